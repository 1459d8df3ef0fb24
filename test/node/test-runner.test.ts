import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from './traced-process.js';
import { faultsOf, hephFiles } from './written-traces.js';

const register = fileURLToPath(new URL('../../dist/node/register.js', import.meta.url));

it.each([
  ['its command line', ['--import', register], {}],
  ['NODE_OPTIONS', [], { NODE_OPTIONS: `--import ${register}` }],
])("Node's test runner prints nothing of the hook, which has it from %s", (_, flags, env) => {
  const cwd = temporaryDirectory();
  for (const name of ['one', 'two']) {
    writeFileSync(join(cwd, `${name}.test.cjs`), "require('node:test').test('passes', () => {});");
  }
  const dir = { TRACEWRIGHT_DIR: join(cwd, 'traces'), TRACEWRIGHT_FORMATS: 'heph,ovni' };
  const own = { ...process.env, ...env, ...dir };
  for (const name of ['NODE_TEST_CONTEXT', 'TRACEWRIGHT_QUIET', 'npm_execpath'])
    Reflect.deleteProperty(own, name);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '--test'], {
    cwd,
    encoding: 'utf8',
    env: own,
  });
  expect(status).toBe(0);
  expect(stdout).toContain('pass 2');
  expect(stdout + stderr).not.toContain('racewright');
  // All processes of the runner are one run.
  expect(readdirSync(cwd).filter((name) => name.startsWith('traces'))).toEqual(['traces']);
  const [loom = ''] = readdirSync(join(cwd, 'traces', 'ovni'));
  expect(readdirSync(join(cwd, 'traces', 'ovni', loom)).length).toBeGreaterThanOrEqual(2);
});

/** Runs a command that inherits the hook. */
function inherit(cwd: string, command: string, args: readonly string[]) {
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import ${register}`,
    TRACEWRIGHT_FORMATS: 'heph,ovni',
    TRACEWRIGHT_QUIET: '1',
  };
  for (const name of ['NODE_TEST_CONTEXT', 'npm_execpath', 'TRACEWRIGHT_RUN', 'TRACEWRIGHT_DIR']) {
    Reflect.deleteProperty(env, name);
  }
  return spawnSync(command, args, { cwd, encoding: 'utf8', env });
}

const runsIn = (cwd: string): string[] =>
  readdirSync(join(cwd, 'traces'))
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(cwd, 'traces', name));

it.runIf(process.platform === 'linux')('what a command of npm runs is one run', () => {
  const cwd = temporaryDirectory();
  writeFileSync(
    join(cwd, 'program.cjs'),
    `const server = require('node:http').createServer((_, response) => response.end());
     server.listen(0, '127.0.0.1', async () => {
       await (await fetch('http://127.0.0.1:' + server.address().port)).text();
       server.close();
     });`,
  );
  const scripts = { programs: 'node program.cjs && node -e 1 && node program.cjs' };
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts }));
  expect(inherit(cwd, 'npm', ['run', '--silent', 'programs'])).toMatchObject({
    status: 0,
    stdout: '',
  });
  const [directory = '', ...others] = runsIn(cwd);
  expect(others).toEqual([]);
  expect(hephFiles(directory)).toHaveLength(2);
});

it.runIf(process.platform === 'linux')(
  'the next start completes the trace of a killed test',
  () => {
    const cwd = temporaryDirectory();
    const start = (program: string): void => {
      writeFileSync(join(cwd, 'one.test.cjs'), program);
      inherit(cwd, process.execPath, ['--test']);
    };
    start("process.kill(process.pid, 'SIGKILL');");
    const [killed = ''] = runsIn(cwd);
    expect(faultsOf(killed)).not.toEqual([]);
    start("require('node:test').test('passes', () => {});");
    expect(faultsOf(killed)).toEqual([]);
    expect(runsIn(cwd)).toContain(killed);
  },
);
