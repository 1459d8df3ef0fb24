import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../traced-process.js';
import { faultsOf, hephFiles, requestsOf } from '../written-traces.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));

const REQUEST = `const server = require('node:http').createServer((_, response) => response.end());
  server.listen(0, '127.0.0.1', async () => {
    await (await fetch('http://127.0.0.1:' + server.address().port)).text();
    server.close();
  });`;
const DETACHED = `require('node:child_process').spawn(process.execPath, ['request.cjs'], {
    detached: true,
    stdio: 'ignore',
  }).unref();`;

/** A directory with programs. */
function directoryWith(files: Record<string, string>): string {
  const cwd = temporaryDirectory();
  for (const [name, text] of Object.entries({ 'request.cjs': REQUEST, ...files }))
    writeFileSync(join(cwd, name), text);
  return cwd;
}

/** Runs a command of the shell, below which all processes inherit the hook; returns what it has printed. */
function runShell(cwd: string, command: string, own: Record<string, string> = {}): string {
  const env = { ...process.env, NODE_OPTIONS: `--import ${register}`, ...own };
  for (const name of ['NODE_TEST_CONTEXT', 'TRACEWRIGHT_RUN', 'TRACEWRIGHT_DIR'])
    Reflect.deleteProperty(env, name);
  if (own['npm_execpath'] === undefined) Reflect.deleteProperty(env, 'npm_execpath');
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8', env });
  return stdout + stderr;
}

/** As the processes of a package manager, of which the shell is the topmost one. */
const OF_TOOL = { npm_execpath: '/usr/lib/node_modules/npm/bin/npm-cli.js' };

const runsIn = (cwd: string): string[] =>
  existsSync(join(cwd, 'traces'))
    ? readdirSync(join(cwd, 'traces'))
        .filter((name) => !name.startsWith('.'))
        .map((name) => join(cwd, 'traces', name))
    : [];

describe.runIf(process.platform === 'linux')('processes that inherit the hook', () => {
  it.each([
    ['one after the other', 'node -e 1; node -e 2; node -e 3'],
    ['at once', 'node -e 1 & node -e 2 & node -e 3 & wait'],
  ])('leave and print nothing if none of them records anything, %s', (_, command) => {
    const cwd = directoryWith({});
    const files = readdirSync(cwd);
    for (const own of [{}, OF_TOOL]) expect(runShell(cwd, command, own)).toBe('');
    expect(readdirSync(cwd)).toEqual(files);
  });

  it('of npm and npx leave and print nothing if none of them records anything', () => {
    const scripts = {
      all: 'node -e 1 && npm run --silent one',
      one: 'node -e 2 & node -e 3; wait',
    };
    const cwd = directoryWith({ 'package.json': JSON.stringify({ scripts }) });
    const files = readdirSync(cwd);
    expect(runShell(cwd, 'npm run --silent all; npx --no -c "node -e 4"')).toBe('');
    expect(readdirSync(cwd)).toEqual(files);
  });

  it('leave the traces of those that have recorded something, in one run', () => {
    const cwd = directoryWith({});
    const command = 'node -e 1; node request.cjs; node -e 2; node request.cjs; node -e 3';
    expect(runShell(cwd, command, OF_TOOL)).toMatch(
      /^tracewright: \S+ \(\d+\) is traced in \S+\n$/,
    );
    const [run = '', ...others] = runsIn(cwd);
    expect(others).toEqual([]);
    expect(faultsOf(run)).toEqual([]);
    expect(hephFiles(run)).toHaveLength(2);
  });

  it('look for no run if npm starts them and their own command lines name the hook', () => {
    const cwd = directoryWith({});
    const command = `node -r ${register} request.cjs; node -r ${register} request.cjs`;
    runShell(cwd, command, { ...OF_TOOL, NODE_OPTIONS: '' });
    expect(runsIn(cwd).map((run) => requestsOf(run).length)).toEqual([1, 1]);
    expect(readdirSync(join(cwd, 'traces'))).toHaveLength(2);
  });

  it('find a run that is gone when they begin', async () => {
    const cwd = directoryWith({ 'detached.cjs': DETACHED });
    expect(runShell(cwd, 'node detached.cjs')).not.toContain('Warning');
    const isOver = (): boolean => {
      const names = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
      return (
        names.some((name) => name.endsWith('.heph')) &&
        !names.some((name) => name.endsWith('.ring'))
      );
    };
    await expect.poll(isOver).toBe(true);
    const [run = '', ...others] = runsIn(cwd);
    expect(others).toEqual([]);
    expect(requestsOf(run)).toHaveLength(1);
    expect(faultsOf(run)).toEqual([]);
  });

  it.each([{}, OF_TOOL])('lose nothing while others leave, %o', (own) => {
    const cwd = directoryWith({});
    const processes = 24;
    const each = `if [ $((i % 3)) = 0 ]; then node request.cjs; else node -e 1; fi`;
    const one = `i=0; while [ $i -lt ${processes} ]; do (${each}) & sleep 0.02; i=$((i + 1)); done; wait`;
    expect(runShell(cwd, one, { ...own, TRACEWRIGHT_QUIET: '1' })).toBe('');
    const runs = runsIn(cwd);
    expect(runs.flatMap(requestsOf)).toHaveLength(processes / 3);
    expect(runs.flatMap(faultsOf)).toEqual([]);
    for (const run of runs) expect(hephFiles(run)).not.toEqual([]);
  });

  it('leave the trace of one that was killed', () => {
    const cwd = directoryWith({ 'killed.cjs': "process.kill(process.pid, 'SIGKILL');" });
    const env = { ...OF_TOOL, TRACEWRIGHT_FORMATS: 'ovni' };
    runShell(cwd, 'node -e 1; node killed.cjs; node -e 2', env);
    const [run = '', ...others] = runsIn(cwd);
    expect(others).toEqual([]);
    const [loom = ''] = readdirSync(join(run, 'ovni'));
    expect(readdirSync(join(run, 'ovni', loom))).toHaveLength(1);
  });

  it('make no directory that another user names', () => {
    const cwd = directoryWith({});
    const elsewhere = join(cwd, 'elsewhere', 'run-2026-01-01T00-00-00Z-1');
    const text = JSON.stringify({ directory: elsewhere, firstClock: '1', setting: '' });
    const marker = 'traces/.tracewright-$$-$(cut -d " " -f 22 /proc/$$/stat)';
    writeFileSync(join(cwd, 'text'), text);
    expect(
      runShell(cwd, `mkdir traces; cp text "${marker}"; node request.cjs; true`, {
        ...OF_TOOL,
        TRACEWRIGHT_QUIET: '1',
      }),
    ).toBe('');
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false);
    expect(runsIn(cwd)).toHaveLength(1);
  });
});
