// A service of Fastify, pg, mysql2 and redis: plain, with channels that nobody reads, with the hook and parts of it, and
// with OpenTelemetry's SDK. What a request costs, what it leaves to the garbage collector, how late the event loop is,
// and what is kept. Needs PostgreSQL, MariaDB and Redis at their standard addresses; npm installs the packages into
// build/libraries-service.

import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { measureCollections } from './collections.mjs';
import { CONNECTIONS, STEADY, leaveServiceCore, loadNote, measureInTurns } from './http-turns.mjs';
import { installPackages } from './libraries-packages.mjs';
import {
  FLOOR,
  openTelemetry,
  spansOf,
  UNSAMPLED,
  withConstant,
  withHook,
} from './libraries-service.mjs';
import { measureMemory } from './service-memory.mjs';

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** Of a request: it, its handler, and the three questions. The first ones make connections too. */
const SPANS = 5;
const CHANNELS = {
  fastify: 'fastify.request.handler',
  mysql2: 'mysql2:query',
  redis: 'node-redis:command',
};
const PLAIN = 'plain';
const HOOK = 'the hook';
const OPENTELEMETRY = '@opentelemetry/sdk-node with auto-instrumentations';
/** The share of OpenTelemetry's cost that ours may be. */
const MOST_OF_PEER = 0.25;
const MOST_PROMOTED = 1.2;
const MOST_COLLECTING = 1.25;
/** Of the plain service's requests a second, per cent. */
const LEAST_REQUESTS = 95;
const MOST_DELAY = 1.05;
const EMPTY = 'subscribers that do nothing';
const UNSAMPLED_HOOK = `${HOOK}, nothing sampled`;
/** What is measured in turns, in a worker and in the main thread. */
const IN_WORKER = [PLAIN, HOOK, OPENTELEMETRY];
/** Each has 16 connections of the 100 that PostgreSQL takes. */
const IN_TURNS = [PLAIN, `${EMPTY}: all three`, FLOOR, UNSAMPLED_HOOK, HOOK, OPENTELEMETRY];

/**
 * @param {string} place
 * @returns {import('./http-turns.mjs').Variant[]}
 */
function variantsIn(place) {
  const program = [here('databases-service-program.mjs'), place];
  const each = { cwd: place, path: '/orders/7' };
  const empty = (/** @type {string} */ name, /** @type {string[]} */ channels) => ({
    ...each,
    name: `${EMPTY}: ${name}`,
    flags: ['--require', here('empty-subscribers.cjs'), ...program],
    env: { BENCH_CHANNELS: channels.join(',') },
  });
  const hook = (/** @type {string} */ name, /** @type {NodeJS.ProcessEnv} */ env) => ({
    ...each,
    ...withHook(program, name, env),
  });
  const alone = (/** @type {string} */ library) =>
    hook(`${HOOK}, of libraries only ${library}`, { TRACEWRIGHT_LIBRARIES: library });
  return [
    { ...each, name: PLAIN, flags: program },
    ...Object.entries(CHANNELS).map(([name, channel]) => empty(name, [channel])),
    empty('all three', Object.values(CHANNELS)),
    { ...each, ...withConstant(program) },
    hook(HOOK),
    hook(`${HOOK}, without libraries`, { TRACEWRIGHT_LIBRARIES: 'off' }),
    ...['fastify', 'pg', 'mysql2', 'redis'].map(alone),
    hook(UNSAMPLED_HOOK, UNSAMPLED),
    hook(`${HOOK}, one of 100 sampled`, {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    }),
    {
      ...each,
      name: OPENTELEMETRY,
      flags: ['--require', here('libraries-opentelemetry.cjs'), ...program],
      env: { ...openTelemetry('http,pg,mysql2,redis'), BENCH_HANDLER: '1' },
    },
  ];
}

/**
 * A service in a worker thread.
 *
 * @param {import('./http-turns.mjs').Variant} variant
 * @returns {import('./http-turns.mjs').Variant}
 */
function inWorker({ name, flags, ...rest }) {
  const at = flags.length - 2;
  const program = [...flags.slice(0, at), here('service-in-worker.mjs'), ...flags.slice(at)];
  return { ...rest, name: `${name}, in a worker`, flags: program };
}

/**
 * @param {readonly import('./http-turns.mjs').Variant[]} variants the plain one first.
 * @param {boolean} quick
 * @param {number} [generations]
 */
async function measureTurns(variants, quick, generations = STEADY.generations) {
  const timed = variants.map((each) => ({ ...each, env: { ...each.env, BENCH_LOOP_DELAY: '1' } }));
  const how = quick ? { generations: 1, slices: 2 } : { ...STEADY, generations };
  const rows = await measureInTurns(timed, how);
  const [plain] = rows;
  return rows.map(({ name, perSecond, perSecondShare, cpuUs, delayP99Ms, delayShare }) => ({
    name,
    perSecond,
    perSecondShare,
    cpuUs,
    moreUs: cpuUs - plain.cpuUs,
    delayP99Ms,
    delayShare,
  }));
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const place = installPackages();
  const how = quick
    ? { warmUp: 500, counted: 1000, processes: 1 }
    : { warmUp: 10_000, counted: 20_000, processes: 3 };
  const variants = variantsIn(place);
  const named = (/** @type {{ name: string }[]} */ all, /** @type {string} */ name) =>
    all.find((each) => each.name === name);
  const counts = [];
  for (const name of [HOOK, OPENTELEMETRY]) counts.push(await spansOf(named(variants, name)));
  const serversRun = leaveServiceCore();
  const all = (/** @type {string[]} */ names) => names.map((name) => named(variants, name));
  const turns = await measureTurns(all(IN_TURNS), quick);
  const workers = await measureTurns(all(IN_WORKER).map(inWorker), quick, 2);
  const memory = await measureMemory(
    all(IN_WORKER),
    quick ? { warmUp: 500, counted: 1000 } : { warmUp: 30_000, counted: 100_000 },
  );
  const rows = await measureCollections(variants, how);
  const [plain, ours] = [PLAIN, HOOK].map((name) => named(rows, name));
  const [hook, peer] = [HOOK, OPENTELEMETRY].map((name) => named(turns, name));
  const share = hook.moreUs / peer.moreUs;
  const promoted = ours.promoted / plain.promoted;
  const collecting = ours.collectionUs / plain.collectionUs;
  return {
    tables: [
      ...[turns, workers].map((each, i) => ({
        title: `Fastify 5, pg, mysql2 and redis${i === 0 ? '' : ', in a worker thread'}, ${CONNECTIONS} connections, slices of ${STEADY.sliceMs} ms in turn, after ${STEADY.warmUpMs / 1000} s of load`,
        columns: [
          '',
          'requests/s',
          '% of plain',
          'CPU us/request',
          'more than plain',
          'p99 of the event-loop delay, ms',
          'times plain',
        ],
        rows: each.map((row) => Object.values(row)),
      })),
      {
        title: 'Memory after the first requests, and how much more after 100,000 others',
        columns: ['', 'kept MB', 'more', 'resident MB', 'more'],
        rows: memory.map((row) => Object.values(row)),
      },
      {
        title: `Fastify 5, pg, mysql2 and redis, ${CONNECTIONS} connections, median of ${how.processes} processes, ${how.counted} requests each`,
        columns: [
          '',
          'CPU us/request',
          'more than plain',
          'bytes allocated',
          'bytes promoted',
          'us collecting',
          'collections',
        ],
        rows: rows.map(({ name, cpuUs, ...rest }) => [
          name,
          cpuUs,
          cpuUs - plain.cpuUs,
          ...Object.values(rest),
        ]),
      },
    ],
    goals: [
      {
        goal: "the hook's CPU time beyond plain: at most a quarter of OpenTelemetry's",
        figure: share,
        met: share <= MOST_OF_PEER,
      },
      {
        goal: `with the hook: at least ${LEAST_REQUESTS} % of the plain requests/s`,
        figure: hook.perSecondShare,
        met: hook.perSecondShare >= LEAST_REQUESTS,
      },
      {
        goal: `p99 of the event-loop delay: at most ${MOST_DELAY} times plain`,
        figure: hook.delayShare,
        met: hook.delayShare <= MOST_DELAY,
      },
      {
        goal: `bytes promoted a request: at most ${MOST_PROMOTED} times plain`,
        figure: promoted,
        met: promoted <= MOST_PROMOTED,
      },
      {
        goal: `time of collections a request: at most ${MOST_COLLECTING} times plain`,
        figure: collecting,
        met: collecting <= MOST_COLLECTING,
      },
      {
        goal: `each records ${SPANS} spans a request`,
        figure: counts.map((count) => count.toFixed(2)).join(', '),
        met: counts.every((count) => Math.abs(count - SPANS) < 0.2),
      },
    ],
    notes: [
      loadNote(),
      `The three servers have processes of their own, ${serversRun}. Bytes and collections are those that V8 reports with --trace-gc-nvp. Collecting is what the main thread waits for.`,
    ],
  };
}

await main(import.meta.url, { title: 'A service of three databases, and its garbage', measure });
