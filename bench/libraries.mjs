// What a call of each library costs while it is recorded, and while its trace is not sampled. Needs PostgreSQL, MariaDB
// and Redis at their standard addresses; npm installs the packages into build/libraries-service.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { leaveServiceCore, pinned, SERVICE_CORE } from './http-turns.mjs';
import { installPackages } from './libraries-packages.mjs';
import { median } from './median.mjs';

const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const PROGRAM = here('libraries-program.mjs');
const HOOK = ['--import', 'tracewright/register'];

/** The first one is measured in other ways too. */
const FIRST = 'ioredis';
const LIBRARIES = [FIRST, 'redis', 'pg', 'mysql2', 'fetch'];
/** Microseconds that a call may cost more than without the hook. */
const MOST_ADDED = 2;

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
/** What no tracer with context can be below. */
const CONTEXT = { name: "Node's context", flags: [], subscribers: 'context', env: {} };
const EMPTY = 1;
/** These carry the context of the request too, which is no cost of a library. */
const EMPTY_IN_CONTEXT = 3;
const UNSAMPLED = 4;
const RECORDED = 5;
const MOST = 3;

/** Microseconds of CPU time for a call. */
function run({ flags, subscribers = '', env }, library, calls, place, port) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const program = [PROGRAM, place, library, String(calls), String(port), subscribers];
    const [command, ...args] = pinned(SERVICE_CORE, [process.execPath, ...flags, ...program]);
    const { status, stdout, stderr } = spawnSync(command, args, {
      encoding: 'utf8',
      env: {
        ...process.env,
        TRACEWRIGHT_CONTEXT: 'on',
        TRACEWRIGHT_DIR: join(directory, 'run'),
        TRACEWRIGHT_INSTRUMENTATIONS: 'off',
        TRACEWRIGHT_QUIET: '1',
        ...env,
      },
    });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Of each variant, a figure for each round: the machine changes its speed, so each round is compared with itself. */
function inTurn(variants, rounds, one) {
  const times = variants.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds; round++) {
    variants.forEach((variant, i) => times[i].push(one(variant)));
  }
  return times;
}

function added([plain, ...others]) {
  return others.map((times) => median(times.map((time, i) => time - plain[i])));
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const place = installPackages();
  const servers = leaveServiceCore();
  const rounds = quick ? 1 : 9;
  const calls = quick ? 2_000 : 30_000;
  const backend = spawn(process.execPath, [here('libraries-backend.mjs')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    const [{ port }] = await once(backend, 'message');
    const times = inTurn(VARIANTS, rounds, (each) => run(each, FIRST, calls, place, port));
    const costs = times.map((each) => median(each));
    const beyond = (variant) =>
      median(times[UNSAMPLED].map((time, i) => (time / times[variant][i] - 1) * 100));
    const beyondEmpty = beyond(EMPTY_IN_CONTEXT);
    const shown = [VARIANTS[0], CONTEXT, VARIANTS[UNSAMPLED], VARIANTS[RECORDED]];
    const libraries = [];
    for (const library of LIBRARIES) {
      const own = inTurn(shown, rounds, (each) => run(each, library, calls, place, port));
      libraries.push([library, median(own[0]), ...added(own)]);
    }
    return {
      tables: [
        {
          title: `CPU time of a command of ioredis, ${rounds} rounds of ${calls} commands each in turn`,
          columns: ['variant', 'median µs', 'beyond plain µs'],
          rows: VARIANTS.map(({ name }, i) => [name, costs[i], costs[i] - costs[0]]),
        },
        {
          title: `CPU time of a call, ${rounds} rounds of ${calls} calls each in turn, 20 at once below a span`,
          columns: [
            'library',
            'plain µs',
            "Node's context alone: more",
            'not sampled: more',
            'recorded: more',
          ],
          rows: libraries,
        },
      ],
      notes: [
        `Beyond empty subscribers in a process without the hook, and so without context: ${beyond(EMPTY).toFixed(1)} %. The servers run ${servers}.`,
      ],
      goals: [
        {
          goal: `ioredis, not sampled: at most ${MOST} % beyond empty subscribers on the same channels`,
          figure: beyondEmpty,
          met: beyondEmpty <= MOST,
        },
        ...libraries.map(([library, , , , more]) => ({
          goal: `${library}: a call that is recorded costs less than ${MOST_ADDED} us more`,
          figure: more,
          met: more < MOST_ADDED,
        })),
      ],
    };
  } finally {
    backend.kill('SIGKILL');
  }
}

await main(import.meta.url, { title: 'The cost of a recorded library', measure });
