import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from './traced-process.js';

const register = fileURLToPath(new URL('../../dist/node/register.js', import.meta.url));

it.each([
  ['its command line', ['--import', register], {}],
  ['NODE_OPTIONS', [], { NODE_OPTIONS: `--import ${register}` }],
])("Node's test runner prints nothing of the hook, which has it from %s", (_, flags, env) => {
  const cwd = temporaryDirectory();
  for (const name of ['one', 'two']) {
    writeFileSync(join(cwd, `${name}.test.cjs`), "require('node:test').test('passes', () => {});");
  }
  const own = { ...process.env, ...env, TRACEWRIGHT_DIR: join(cwd, 'traces') };
  for (const name of ['NODE_TEST_CONTEXT', 'TRACEWRIGHT_QUIET']) Reflect.deleteProperty(own, name);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '--test'], {
    cwd,
    encoding: 'utf8',
    env: own,
  });
  expect(status).toBe(0);
  expect(stdout).toContain('pass 2');
  expect(stdout + stderr).not.toContain('racewright');
  expect(readdirSync(cwd).filter((name) => name.startsWith('traces'))).not.toEqual([]);
});
