import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../traced-process.js';
import { faultsOf, requestsOf } from '../written-traces.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));
/** Set by `npm run test:frameworks`, which installs pm2 where npm can. */
const place = process.env['TRACEWRIGHT_TEST_FRAMEWORKS'] ?? '';
const command = join(place, 'node_modules', 'pm2', 'bin', 'pm2');
const isInstalled = existsSync(command);

/** Each process says in a file of its own where it listens. */
const SERVICE = `const { writeFileSync, renameSync } = require('node:fs');
const server = require('node:http').createServer((_, response) => {
  response.setHeader('connection', 'close');
  response.end(String(process.pid));
});
server.listen(0, '127.0.0.1', () => {
  writeFileSync('.new-' + process.pid, String(server.address().port));
  renameSync('.new-' + process.pid, process.env.MODE + '-' + process.pid + '.port');
});`;

const cwd = isInstalled ? temporaryDirectory() : '';

function pm2(...args: string[]): void {
  const env: NodeJS.ProcessEnv = { ...process.env, PM2_HOME: join(cwd, 'pm2') };
  for (const name of ['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'npm_execpath', 'TRACEWRIGHT_RUN'])
    Reflect.deleteProperty(env, name);
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args, '--silent'], {
    cwd,
    encoding: 'utf8',
    env,
  });
  expect(status, stdout + stderr).toBe(0);
}

const filesOf = (mode: string): string[] =>
  readdirSync(cwd).filter((name) => name.startsWith(mode) && name.endsWith('.port'));

/** Asks until each of so many processes of a mode has answered; returns how many answers there were. */
async function askAll(mode: string, processes: number): Promise<number> {
  await expect.poll(() => filesOf(mode).length, { timeout: 60_000 }).toBe(processes);
  const missing = new Set(filesOf(mode).map((name) => /\d+/.exec(name)![0]));
  let answers = 0;
  while (missing.size > 0) {
    for (const name of filesOf(mode)) {
      const port = readFileSync(join(cwd, name), 'utf8');
      const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
      if (response === undefined) continue;
      answers += 1;
      missing.delete(await response.text());
    }
  }
  return answers;
}

describe.skipIf(!isInstalled)('pm2 (skipped where npm cannot install it)', () => {
  afterAll(() => {
    pm2('kill');
  });

  it('runs traced processes, in fork and in cluster mode', { timeout: 240_000 }, async () => {
    writeFileSync(join(cwd, 'web.cjs'), SERVICE);
    const common = {
      script: 'web.cjs',
      cwd,
      node_args: `--import ${register}`,
      autorestart: false,
    };
    const apps = [
      { ...common, name: 'forked', exec_mode: 'fork', env: { MODE: 'forked' } },
      {
        ...common,
        name: 'clustered',
        exec_mode: 'cluster',
        instances: 2,
        env: { MODE: 'clustered' },
      },
    ];
    writeFileSync(
      join(cwd, 'ecosystem.config.cjs'),
      `module.exports = ${JSON.stringify({ apps })};`,
    );
    pm2('start', 'ecosystem.config.cjs');
    let answers = (await askAll('forked', 1)) + (await askAll('clustered', 2));
    pm2('delete', 'all');
    expect(readdirSync(join(cwd, 'traces'))).toHaveLength(3);
    for (const name of filesOf('')) rmSync(join(cwd, name));
    pm2('start', 'ecosystem.config.cjs', '--only', 'forked');
    answers += await askAll('forked', 1);
    pm2('delete', 'all');

    const runs = readdirSync(join(cwd, 'traces'));
    // Each process is a run of its own, with the name of its script.
    expect(runs).toHaveLength(4);
    for (const run of runs) expect(run).toMatch(/^web-\d{4}-/);
    const paths = runs.map((run) => join(cwd, 'traces', run));
    expect(paths.flatMap(faultsOf)).toEqual([]);
    expect(paths.flatMap(requestsOf)).toHaveLength(answers);
    for (const path of paths) expect(requestsOf(path).length).toBeGreaterThan(0);
  });
});
