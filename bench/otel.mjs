// What a span through the OpenTelemetry API costs: with tracewright/otel, and with OpenTelemetry's SDK.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { alternate, costTable, ratio } from './alternating.mjs';
import { main } from './benchmark.mjs';

const OURS = 'tracewright/otel';
const SDK = "OpenTelemetry's SDK";
const OPERATIONS = 2000;

/** Two of each, so that no constant is folded into the code. */
const methods = ['GET', 'POST'];
const statuses = [200, 404];

/**
 * The calls that are compared: the same for both.
 *
 * @param {import('@opentelemetry/api').Tracer} tracer
 * @returns {Record<string, (count: number) => void>}
 */
function callsOf(tracer) {
  return {
    options(count) {
      for (let i = 0; i < count; i++) {
        const attributes = { method: methods[i & 1], status: statuses[i & 1] };
        tracer.startSpan('request', { attributes }).end();
      }
    },
    set(count) {
      for (let i = 0; i < count; i++) {
        const span = tracer.startSpan('request');
        span.setAttribute('method', methods[i & 1]);
        span.setAttribute('status', statuses[i & 1]);
        span.end();
      }
    },
    active(count) {
      for (let i = 0; i < count; i++) {
        tracer.startActiveSpan('request', (span) => {
          tracer.startSpan('query').end();
          span.end();
        });
      }
    },
  };
}

/** @typedef {{ name: string, directory: string, sampled: boolean }} Side */

/**
 * One of the two, with spans that nobody reads.
 *
 * @param {Side} side
 */
async function setUp({ name, directory, sampled }) {
  const { trace } = await import('@opentelemetry/api');
  if (name === OURS) {
    const { configure } = await import('tracewright/spans');
    const { register } = await import('tracewright/otel');
    configure({
      target: join(mkdtempSync(join(directory, 'x')), 'spans.heph'),
      sample: sampled ? 1 : 0,
    });
    const { provider } = register();
    return { tracer: trace.getTracer('bench'), settle: () => provider.forceFlush() };
  }
  const { AlwaysOffSampler, AlwaysOnSampler, BatchSpanProcessor } =
    await import('@opentelemetry/sdk-trace-base');
  const { NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const provider = new NodeTracerProvider({
    sampler: sampled ? new AlwaysOnSampler() : new AlwaysOffSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        export: (_, done) => done({ code: 0 }),
        shutdown: () => Promise.resolve(),
      }),
    ],
  });
  provider.register();
  return { tracer: trace.getTracer('bench'), settle: () => provider.forceFlush() };
}

/** In a thread of its own: runs batches when it is told to, and answers with nanoseconds. */
async function serve() {
  const { tracer, settle } = await setUp(workerData);
  const calls = callsOf(tracer);
  parentPort?.on('message', async ({ call, count }) => {
    if (call === 'settle') {
      await settle();
      parentPort?.postMessage(0);
      return;
    }
    const from = process.hrtime.bigint();
    calls[call](count);
    parentPort?.postMessage(Number(process.hrtime.bigint() - from));
  });
}

/** @param {Side} side */
function thread(side) {
  const worker = new Worker(new URL(import.meta.url), { workerData: side });
  /**
   * @param {string} call
   * @param {number} [count]
   * @returns {Promise<number>}
   */
  const ask = (call, count = 0) =>
    new Promise((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', (ns) => {
        worker.off('error', reject);
        resolve(ns);
      });
      worker.postMessage({ call, count });
    });
  return { ask, end: () => worker.terminate() };
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const rounds = quick ? 20 : 200;
  const time = async (/** @type {() => unknown} */ run) => Number(await run());
  /**
   * @param {string} call
   * @param {boolean} sampled
   */
  const compare = async (call, sampled) => {
    const threads = [OURS, SDK].map((name) => ({ name, ...thread({ name, directory, sampled }) }));
    const peers = threads.map(({ name, ask }) => ({
      name,
      run: (/** @type {number} */ count) => ask(call, count),
      settle: () => ask('settle'),
    }));
    const costs = await alternate(peers, { operations: OPERATIONS, rounds, time });
    for (const { end } of threads) await end();
    return costs;
  };
  try {
    const options = await compare('options', true);
    const set = await compare('set', true);
    const active = await compare('active', true);
    const unsampled = await compare('options', false);
    const unsampledActive = await compare('active', false);
    const times = (/** @type {import('./alternating.mjs').Costs} */ costs) =>
      ratio(costs, SDK, OURS);
    const tables = [
      costTable('A span with two attributes in its options', options, [OURS]),
      costTable('A span that gets two attributes', set, [OURS]),
      costTable('startActiveSpan with a child', active, [OURS]),
      costTable('The first, unsampled', unsampled, [OURS]),
      costTable('The third, unsampled', unsampledActive, [OURS]),
    ];
    return {
      tables,
      goals: [
        { goal: 'a span: the SDK at least 8 x', figure: times(options), met: times(options) >= 8 },
        {
          goal: 'a span that gets attributes: the SDK at least 8 x',
          figure: times(set),
          met: times(set) >= 8,
        },
        {
          goal: 'startActiveSpan with a child: the SDK at least 5 x',
          figure: times(active),
          met: times(active) >= 5,
        },
        {
          goal: 'unsampled: the SDK at least 1 x',
          figure: times(unsampled),
          met: times(unsampled) >= 1,
        },
        {
          goal: 'unsampled startActiveSpan: the SDK at least 1 x',
          figure: times(unsampledActive),
          met: times(unsampledActive) >= 1,
        },
      ],
      notes: [
        `Batches of ${OPERATIONS}, ${rounds} rounds. Each of the two has a thread. Writing and exporting are not counted.`,
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (isMainThread) {
  await main(import.meta.url, {
    title: 'The cost of a span through the OpenTelemetry API',
    measure,
  });
} else {
  await serve();
}
