// What a command of ioredis costs while it is recorded, and while its trace is not sampled.
// Needs a Redis at 127.0.0.1:6379, and the packages that the tests of libraries install.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const PROGRAM = fileURLToPath(new URL('libraries-program.mjs', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../build/libraries/newest', import.meta.url));
const HOOK = ['--import', 'tracewright/register'];

const UNSAMPLED_TRACE = { OTEL_TRACES_SAMPLER: 'always_off' };
const WITHOUT = { ...UNSAMPLED_TRACE, TRACEWRIGHT_LIBRARIES: 'off' };

const VARIANTS = [
  { name: 'plain', flags: [], subscribers: '', env: {} },
  { name: 'empty subscribers', flags: [], subscribers: 'empty', env: {} },
  { name: 'hook without libraries, not sampled', flags: HOOK, env: WITHOUT },
  {
    name: 'the same, empty subscribers',
    flags: HOOK,
    subscribers: 'empty',
    env: WITHOUT,
  },
  { name: 'hook, not sampled', flags: HOOK, env: UNSAMPLED_TRACE },
  { name: 'hook, recorded', flags: HOOK, env: {} },
];
const EMPTY = 1;
/** These carry the context of the request too, which is no cost of a library. */
const EMPTY_IN_CONTEXT = 3;
const UNSAMPLED = 4;
const MOST = 3;

/** Microseconds of CPU time for a command. */
function run({ flags, subscribers = '', env }, commands) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...flags, PROGRAM, PACKAGES, String(commands), subscribers],
      {
        encoding: 'utf8',
        env: {
          ...process.env,
          TRACEWRIGHT_CONTEXT: 'on',
          TRACEWRIGHT_DIR: join(directory, 'run'),
          TRACEWRIGHT_QUIET: '1',
          ...env,
        },
      },
    );
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (!existsSync(join(PACKAGES, 'installed.json'))) {
    throw new Error('no packages: run `node_modules/.bin/vitest run test/libraries` first');
  }
  const rounds = quick ? 1 : 7;
  const commands = quick ? 2_000 : 30_000;
  const times = VARIANTS.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds; round++) {
    VARIANTS.forEach((variant, i) => times[i].push(run(variant, commands)));
  }
  const costs = times.map((each) => median(each));
  // The machine changes its speed: each round is compared with itself.
  const beyond = (variant) =>
    median(times[UNSAMPLED].map((time, i) => (time / times[variant][i] - 1) * 100));
  const beyondEmpty = beyond(EMPTY_IN_CONTEXT);
  return {
    tables: [
      {
        title: `CPU time of a command of ioredis, ${rounds} rounds of ${commands} commands each in turn`,
        columns: ['variant', 'median µs', 'beyond plain µs'],
        rows: VARIANTS.map(({ name }, i) => [name, costs[i], costs[i] - costs[0]]),
      },
    ],
    notes: [
      `Beyond empty subscribers in a process without the hook, and so without context: ${beyond(EMPTY).toFixed(1)} %.`,
    ],
    goals: [
      {
        goal: `not sampled: at most ${MOST} % beyond empty subscribers on the same channels`,
        figure: beyondEmpty,
        met: beyondEmpty <= MOST,
      },
    ],
  };
}

await main(import.meta.url, { title: 'The cost of a recorded library', measure });
