// The instructions of the paths that decide, and whether today's build takes more than those that the repository keeps.
// A busy machine does not change them. Needs Valgrind; PostgreSQL, MariaDB and Redis at their standard addresses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { controlCallgrind, instructionsOf, NOT_COUNTED, underCallgrind } from './callgrind.mjs';
import { installPackages } from './libraries-packages.mjs';
import { median } from './median.mjs';

const PROGRAM = fileURLToPath(new URL('instructions-program.mjs', import.meta.url));
const PAGE = new URL('figures/instructions.md', import.meta.url);
/** Operations until V8 has compiled what it compiles, and those that are counted. */
const CALLS = { warmUp: 100_000, counted: 100_000 };
/** After 3,000 V8 still has functions of the hook that it has not optimized: a query of pg took 11,000 more then. */
const QUESTIONS = { warmUp: 20_000, counted: 4000, hook: true };
const WITHOUT = { ...QUESTIONS, hook: false };
const REQUESTS = { warmUp: 20_000, counted: 2000, hook: true };
const REQUEST = 'request with context';
const WITH_BODY = 'request with a body and context';
export const SERVICE = 'fastify, pg, mysql2 and redis';
export const EXPRESS = 'express, ioredis, pg and fetch';
const UNSAMPLED = { OTEL_TRACES_SAMPLER: 'always_off' };
/** runs: the path of the program, if its name is another one. preload: instead of the hook. */
export const PATHS = {
  'ovni event': CALLS,
  'Heph span': CALLS,
  startSpan: CALLS,
  [REQUEST]: REQUESTS,
  'request that is not sampled': {
    ...REQUESTS,
    runs: REQUEST,
    env: UNSAMPLED,
  },
  [WITH_BODY]: REQUESTS,
  'request with a body, without the hook': { ...REQUESTS, runs: WITH_BODY, hook: false },
  'request without the hook': { ...REQUESTS, runs: REQUEST, hook: false },
  'request with a constant in AsyncLocalStorage': {
    ...REQUESTS,
    runs: REQUEST,
    hook: false,
    preload: new URL('http-entered-context.mjs', import.meta.url).href,
  },
  'fastify handler': REQUESTS,
  [SERVICE]: { ...REQUESTS, warmUp: 10_000 },
  [`${SERVICE}, not sampled`]: { ...REQUESTS, warmUp: 10_000, runs: SERVICE, env: UNSAMPLED },
  [`${SERVICE}, without the hook`]: { ...REQUESTS, warmUp: 10_000, runs: SERVICE, hook: false },
  [EXPRESS]: { ...REQUESTS, warmUp: 10_000 },
  [`${EXPRESS}, not sampled`]: { ...REQUESTS, warmUp: 10_000, runs: EXPRESS, env: UNSAMPLED },
  [`${EXPRESS}, without the hook`]: { ...REQUESTS, warmUp: 10_000, runs: EXPRESS, hook: false },
  pg: QUESTIONS,
  mysql2: QUESTIONS,
  redis: QUESTIONS,
  ioredis: QUESTIONS,
  fetch: QUESTIONS,
  'pg, without the hook': { ...WITHOUT, runs: 'pg' },
  'mysql2, without the hook': { ...WITHOUT, runs: 'mysql2' },
  'redis, without the hook': { ...WITHOUT, runs: 'redis' },
  'ioredis, without the hook': { ...WITHOUT, runs: 'ioredis' },
  'fetch, without the hook': { ...WITHOUT, runs: 'fetch' },
};
/** Those whose figures the page keeps. The others are counted by their name alone. */
const KEPT = ['ovni event', 'Heph span', 'startSpan', REQUEST, 'pg', 'mysql2', 'redis', 'fetch'];
export const PROCESSES = 5;
/** Per cent. What a path takes more than before is slower from here on; a change of 3 % is to be found. */
export const SLOWER = 1.5;
/** V8 chooses its hash seed anew in each process, and the size of its young generation by time. */
const FLAGS = ['--hash-seed=7', '--random-seed=7', '--min-semi-space-size=16'];

/**
 * Starts a program that runs a path, and waits until it is warm.
 *
 * @param {string} path
 * @param {{ warmUp: number, counted: number, place: string, cwd?: string, directory: string, program?: string,
 *   under?: readonly string[], flags: readonly string[], env?: NodeJS.ProcessEnv }} how directory: where the trace goes;
 *   under: the command that runs Node.
 */
export async function startProgram(
  path,
  { warmUp, counted, place, cwd = place, directory, program = PROGRAM, under = [], flags, env },
) {
  const args = [path, warmUp, counted, place].map(String);
  const [command, ...rest] = [...under, process.execPath, ...flags, program, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    cwd,
    env: {
      ...process.env,
      TRACEWRIGHT_QUIET: '1',
      TRACEWRIGHT_DIR: join(directory, 'trace'),
      TRACEWRIGHT_CONTEXT: 'on',
      TRACEWRIGHT_INSTRUMENTATIONS: 'off',
      ...env,
    },
  });
  const ended = once(child, 'exit');
  const next = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    if (typeof message !== 'string') throw new Error(`${path} has ended early`);
  };
  const end = async () => {
    child.send('end');
    await ended;
  };
  try {
    await next();
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { child, next, end };
}

/**
 * @typedef {{ warmUp: number, counted: number, hook?: boolean, runs?: string, env?: NodeJS.ProcessEnv,
 *   preload?: string }} How
 */

/**
 * Instructions of the main thread for one operation, without those of the garbage collector.
 *
 * @param {string} path
 * @param {How} how
 * @param {string} place
 * @param {string} [program]
 */
export async function countOnce(path, how, place, program) {
  const { all, collector } = instructionsOf(await profileOnce(path, how, place, { program }), '');
  return (all - collector) / how.counted;
}

/**
 * What callgrind writes of the main thread, about the operations that are counted.
 *
 * @param {string} path
 * @param {How} how
 * @param {string} place
 * @param {{ program?: string, flags?: readonly string[] }} [more] flags: of callgrind.
 */
export async function profileOnce(
  path,
  { warmUp, counted, hook = false, runs = path, env, preload },
  place,
  { program, flags = [] } = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const loaded = hook ? import.meta.resolve('tracewright/register') : preload;
  let child;
  try {
    const started = await startProgram(runs, {
      warmUp,
      counted,
      place,
      directory,
      program,
      under: [...underCallgrind(directory), ...flags],
      flags: loaded === undefined ? FLAGS : [...FLAGS, '--import', loaded],
      env: { TRACEWRIGHT_STALL_MS: 'off', ...env },
    });
    child = started.child;
    controlCallgrind(child.pid, '--instr=on');
    // Callgrind translates the code again when it begins to count.
    child.send('run');
    await started.next();
    controlCallgrind(child.pid, '--zero');
    child.send('count');
    await started.next();
    controlCallgrind(child.pid, '--dump');
    await started.end();
    return readFileSync(join(directory, 'callgrind.1-01'), 'utf8');
  } finally {
    child?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The kept instructions of a path on this version of Node; undefined: there are none. */
function keptOf(/** @type {string} */ path) {
  const [major] = process.versions.node.split('.');
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| (\d+) \| ([^|]+) \| ([\d,]+) \|/gm);
  for (const [, node, name, figure] of rows) {
    if (node === major && name === path) return Number(figure.replaceAll(',', ''));
  }
  return undefined;
}

/** @param {{ quick: boolean, path?: string, check?: boolean }} options */
async function measure({ quick, path: only, check = false }) {
  if (NOT_COUNTED !== undefined) return { tables: [], notes: [`Skipped: ${NOT_COUNTED}.`] };
  if (only !== undefined && !(only in PATHS)) {
    throw new Error(`no path ${only}; there are ${Object.keys(PATHS).join(', ')}`);
  }
  const place = installPackages();
  const [major] = process.versions.node.split('.');
  const rows = [];
  const goals = [];
  for (const [path, { warmUp, counted, ...rest }] of Object.entries(PATHS)) {
    if (only === undefined ? !KEPT.includes(path) : path !== only) continue;
    const how = quick ? { warmUp: warmUp / 10, counted: counted / 10, ...rest } : PATHS[path];
    const found = [];
    for (let i = 0; i < (quick ? 1 : PROCESSES); i++) {
      found.push(await countOnce(path, how, place));
    }
    const middle = median(found);
    const spread = (100 * (Math.max(...found) - Math.min(...found))) / middle;
    rows.push([Number(major), path, Math.round(middle), spread]);
    const kept = check ? keptOf(path) : undefined;
    if (kept === undefined) continue;
    const more = 100 * (middle / kept - 1);
    goals.push({
      goal: `${path}: at most ${SLOWER} % more than the kept ${kept.toLocaleString('en-US')}`,
      figure: more,
      met: more <= SLOWER,
    });
  }
  return {
    tables: [
      {
        title: `Instructions of the main thread for one operation, median of ${quick ? 1 : PROCESSES} processes`,
        columns: ['Node', 'path', 'instructions', 'spread %'],
        rows,
      },
    ],
    goals,
    notes: ['Counted by callgrind, without the garbage collector.'],
  };
}

await main(import.meta.url, {
  title: 'Instructions of the paths that decide',
  help: `  --path NAME  only this one, else ${KEPT.join(', ')}: ${Object.keys(PATHS).join('; ')}
  --check      compares with the figures of bench/figures/instructions.md; exit code 2: one is slower`,
  options: { path: { type: 'string' }, check: { type: 'boolean' } },
  measure,
});
