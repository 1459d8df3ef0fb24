import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../traced-process.js';
import { faultsOf } from '../written-traces.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));

/** Runs a text in a process that inherits the hook. */
function run(cwd: string, text: string, own: Record<string, string> = {}): string {
  const env = { ...process.env, NODE_OPTIONS: `--import ${register}`, ...own };
  for (const name of ['NODE_TEST_CONTEXT', 'npm_execpath', 'TRACEWRIGHT_RUN']) {
    Reflect.deleteProperty(env, name);
  }
  const { status, stderr } = spawnSync(process.execPath, ['-e', text], {
    cwd,
    encoding: 'utf8',
    env,
  });
  expect(status).toBe(0);
  return stderr;
}

const NOTHING = 'process.exitCode = 0;';
const REQUEST = `const server = require('node:http').createServer((_, response) => response.end());
  server.listen(0, '127.0.0.1', async () => {
    await (await fetch('http://127.0.0.1:' + server.address().port)).text();
    server.close();
  });`;

describe('a process that only inherits the hook', () => {
  it.each([
    ['records nothing', NOTHING],
    [
      'only starts one that records nothing',
      `require('node:child_process').execFileSync(process.execPath, ['-e', '']);`,
    ],
    [
      'waits for one that records nothing',
      `require('node:child_process').spawn(process.execPath, ['-e', '']);`,
    ],
  ])('leaves and prints nothing if it %s', (_, text) => {
    const cwd = temporaryDirectory();
    expect(run(cwd, text)).toBe('');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('leaves a trace if it records anything, which stays', () => {
    const cwd = temporaryDirectory();
    expect(run(cwd, REQUEST)).toMatch(/^tracewright: node \(\d+\) is traced in /);
    const runs = readdirSync(join(cwd, 'traces'));
    expect(runs).toHaveLength(1);
    expect(faultsOf(join(cwd, 'traces', runs[0]!))).toEqual([]);
    run(cwd, NOTHING);
    expect(readdirSync(join(cwd, 'traces'))).toEqual(runs);
  });

  it('leaves the directory that was asked for', () => {
    const cwd = temporaryDirectory();
    run(cwd, NOTHING, { TRACEWRIGHT_DIR: 'wanted' });
    expect(existsSync(join(cwd, 'wanted', 'heph'))).toBe(true);
  });
});
