// What a span of tracewright/spans costs, against a compiled Heph span without context.

import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { openTrace } from 'tracewright/heph';
import { configure, flush, readSpans, shutdown, startSpan, withSpan } from 'tracewright/spans';
import { alternate, cost, costTable, ratio } from './alternating.mjs';
import { main } from './benchmark.mjs';

const COMPILED = 'compiled Heph span';
const SPAN = 'startSpan + end';
const NO_PLACE = 'startSpan + end, without a place for open spans';
const SET = 'startSpan + two set + end';
const WITH = 'withSpan';
const RUN = 'AsyncLocalStorage.run alone';
const UNSAMPLED = 'startSpan + end, unsampled';
const OFF = 'startSpan + end, nothing configured';
const EMPTY = 'an empty function, called';
const READING = 'readSpans';
const OPERATIONS = 2000;
/** Spans of the file that is read. */
const READ = 100_000;

/** Two of each, so that no constant is folded into the code. */
const methods = ['GET', 'POST'];
const statuses = [200, 404];

/** @param {number} count */
function runSpan(count) {
  for (let i = 0; i < count; i++) {
    startSpan('request', { method: methods[i & 1], status: statuses[i & 1] }).end();
  }
}

const nothing = { end: () => undefined };
/** Two, so that V8 calls them: one alone would become part of the loop. */
const empties = [() => nothing, () => nothing];

/** @param {number} count */
function runEmpty(count) {
  for (let i = 0; i < count; i++) {
    empties[i & 1]('request', { method: methods[i & 1], status: statuses[i & 1] }).end();
  }
}

/** @param {string} path */
async function readAll(path) {
  let spans = 0;
  for await (const { end, start } of readSpans(path)) if (end >= start) spans++;
  return spans;
}

/** @param {() => unknown} run */
async function asyncNs(run) {
  const from = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - from);
}

/** @param {string} directory */
function compiledSpan(directory) {
  const trace = openTrace(join(directory, 'compiled.heph'));
  const stream = trace.stream();
  const span = stream.span('request', { method: 'string', status: 'u64' });
  const peer = {
    name: COMPILED,
    /** @param {number} count */
    run: (count) => {
      for (let i = 0; i < count; i++) {
        span.finish(stream.startTrace(), methods[i & 1], statuses[i & 1]);
      }
    },
    settle: () => trace.flush(),
  };
  return { trace, peer };
}

/**
 * Spans of a thread that keeps none while it is open. V8 has seen no other ones there.
 *
 * @param {{ directory: string, rounds: number }} settings
 */
async function measureWithoutPlaces({ directory, rounds }) {
  const { trace, peer } = compiledSpan(directory);
  configure({ target: join(directory, 'spans.heph'), sample: 1, openSpans: { count: 0 } });
  const peers = [peer, { name: NO_PLACE, run: runSpan, settle: () => flush() }];
  const costs = await alternate(peers, { operations: OPERATIONS, rounds });
  await shutdown();
  await trace.close();
  return costs;
}

/**
 * @param {string} directory
 * @param {number} rounds
 * @returns {Promise<import('./alternating.mjs').Costs>}
 */
function inThread(directory, rounds) {
  mkdirSync(directory);
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { directory, rounds } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const rounds = quick ? 20 : 200;
  const off = await alternate(
    [
      { name: OFF, run: runSpan },
      { name: EMPTY, run: runEmpty },
    ],
    { operations: 100_000, rounds },
  );

  const bare = await inThread(join(directory, 'thread'), rounds);
  const { trace, peer: compiled } = compiledSpan(directory);
  configure({ target: join(directory, 'spans.heph'), sample: 1 });
  const storage = new AsyncLocalStorage();
  const store = {};
  try {
    const settle = () => flush();
    const peers = [
      compiled,
      { name: SPAN, run: runSpan, settle },
      {
        name: SET,
        /** @param {number} count */
        run: (count) => {
          for (let i = 0; i < count; i++) {
            const span = startSpan('request');
            span.set('method', methods[i & 1]);
            span.set('status', statuses[i & 1]);
            span.end();
          }
        },
        settle,
      },
    ];
    const costs = await alternate(peers, { operations: OPERATIONS, rounds });
    const unsampled = await alternate(
      [
        peers[1],
        {
          name: UNSAMPLED,
          run: runSpan,
          settle: () => {
            configure({ sample: 0 });
          },
        },
      ].map((peer) => ({
        ...peer,
        settle: async () => {
          await flush();
          configure({ sample: peer.name === UNSAMPLED ? 0 : 1 });
        },
      })),
      { operations: OPERATIONS, rounds },
    );
    configure({ sample: 1 });
    const context = await alternate(
      [
        peers[0],
        peers[1],
        {
          name: WITH,
          /** @param {number} count */
          run: (count) => {
            for (let i = 0; i < count; i++) {
              const attributes = { method: methods[i & 1], status: statuses[i & 1] };
              withSpan('request', attributes, nothing.end);
            }
          },
          settle,
        },
        {
          name: RUN,
          /** @param {number} count */
          run: (count) => {
            for (let i = 0; i < count; i++) storage.run(store, nothing.end);
          },
        },
      ],
      { operations: OPERATIONS, rounds },
    );
    await shutdown();

    const path = join(directory, 'read.heph');
    configure({ target: path });
    const written = quick ? READ / 10 : READ;
    runSpan(written);
    await shutdown();
    const reading = await alternate([{ name: READING, run: () => readAll(path) }], {
      operations: written,
      rounds: quick ? 5 : 25,
      warmUpRounds: 3,
      time: asyncNs,
    });
    const perSecond = Math.round(1e9 / cost(reading, READING));

    const spanRatio = ratio(costs, SPAN, COMPILED);
    const place = spanRatio / ratio(bare, NO_PLACE, COMPILED) - 1;
    const most = cost(context, SPAN) + cost(context, RUN);
    return {
      tables: [
        costTable('A span with two attributes, without context', costs, [COMPILED]),
        costTable('The same in a thread that keeps no open spans', bare, [COMPILED]),
        costTable('The same, unsampled', unsampled, [SPAN]),
        costTable('The same, active while a function runs', context, [COMPILED]),
        costTable('Nothing configured', off, []),
        costTable('Reading', reading, []),
      ],
      goals: [
        {
          goal: 'startSpan + end at most 2.5 x the compiled span',
          figure: spanRatio,
          met: spanRatio <= 2.5,
        },
        {
          goal: 'a place for open spans costs at most 25 % of that',
          figure: `${(100 * place).toFixed(0)} %`,
          met: place <= 0.25,
        },
        {
          goal: `withSpan at most startSpan + end and AsyncLocalStorage.run (${most.toFixed(0)} ns)`,
          figure: cost(context, WITH),
          met: cost(context, WITH) <= most,
        },
        {
          goal: 'unsampled at most a third of sampled',
          figure: ratio(unsampled, UNSAMPLED, SPAN),
          met: ratio(unsampled, UNSAMPLED, SPAN) <= 1 / 3,
        },
        { goal: 'off at most 3 ns', figure: cost(off, OFF), met: cost(off, OFF) <= 3 },
        { goal: 'readSpans at least 500,000 spans/s', figure: perSecond, met: perSecond >= 5e5 },
      ],
      notes: [`Batches of ${OPERATIONS} spans, ${rounds} rounds. Writing is not counted.`],
    };
  } finally {
    await trace.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (isMainThread) {
  await main(import.meta.url, { title: 'The cost of a span with ids and context', measure });
} else {
  parentPort?.postMessage(await measureWithoutPlaces(workerData));
}
