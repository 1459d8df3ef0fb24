// What a span through the OpenTelemetry API costs: with tracewright/otel, and with OpenTelemetry's SDK.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
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

/** Large enough for what the spans of a measurement leave, so that nothing is ever collected. */
const HEAP_FLAGS = ['--expose-gc', '--max-semi-space-size=512', '--min-semi-space-size=512'];
const HEAP_SPANS = 100_000;
const OPEN = 10_000;
const MOST_SPANS = 10_000_000;
/** After which memory is looked at for the first time: V8 has made its heap as large as it likes then. */
const EARLY_SPANS = 5_000_000;

const { gc } = /** @type {{ gc?: () => void }} */ (/** @type {unknown} */ (globalThis));

/**
 * In a process of its own: prints the bytes of the heap that a span leaves.
 *
 * @param {Side} side
 */
async function printHeap(side) {
  const { tracer, settle } = await setUp(side);
  const { options } = callsOf(tracer);
  for (let i = 0; i < 100; i++) {
    options(OPERATIONS);
    await settle();
  }
  gc?.();
  gc?.();
  const before = getHeapStatistics().used_heap_size;
  options(HEAP_SPANS);
  const after = getHeapStatistics().used_heap_size;
  console.log(JSON.stringify((after - before) / HEAP_SPANS));
}

/**
 * In a process of its own: prints megabytes of heap and of the process, after half of the spans and after all.
 * Each span starts while the 10,000 before it are open.
 *
 * @param {Side} side
 * @param {number} spans
 */
async function printMemory(side, spans) {
  const { tracer, settle } = await setUp(side);
  const open = Array.from({ length: OPEN }, () => tracer.startSpan('request'));
  const use = async (/** @type {number} */ count) => {
    for (let i = 0; i < count; i++) {
      const attributes = { method: methods[i & 1], status: statuses[i & 1] };
      open[i % OPEN].end();
      open[i % OPEN] = tracer.startSpan('request', { attributes });
      if (i % 1_000_000 === 0) await settle();
    }
    await settle();
    gc?.();
    gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    return [heapUsed, rss].map((bytes) => bytes / 2 ** 20);
  };
  const early = await use(EARLY_SPANS);
  console.log(JSON.stringify([...early, ...(await use(spans - EARLY_SPANS))]));
}

/**
 * @param {string} what
 * @param {Side} side
 * @param {number} [spans]
 */
function inProcess(what, side, spans) {
  const flags = what === 'memory' ? ['--expose-gc'] : HEAP_FLAGS;
  const file = fileURLToPath(import.meta.url);
  const args = [...flags, file, JSON.stringify({ what, side, spans })];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** In a thread of its own: runs the batches that its parent asks for, and answers with nanoseconds. */
async function serve() {
  const { tracer, settle } = await setUp(workerData);
  if (tracer.startSpan('first').isRecording() !== workerData.sampled) {
    throw new Error(`${workerData.name} does not record as it should`);
  }
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
    const comparisons = [];
    for (const { title, call, sampled, least } of [
      {
        title: 'A span with two attributes in its options',
        call: 'options',
        sampled: true,
        least: 12,
      },
      {
        title: 'A span that gets two attributes by setAttribute',
        call: 'set',
        sampled: true,
        least: 8,
      },
      { title: 'startActiveSpan with a child', call: 'active', sampled: true, least: 11 },
      { title: 'An unsampled span with two attributes', call: 'options', sampled: false, least: 1 },
      { title: 'Unsampled startActiveSpan with a child', call: 'active', sampled: false, least: 1 },
    ]) {
      const costs = await compare(call, sampled);
      const times = ratio(costs, SDK, OURS);
      comparisons.push({
        table: costTable(title, costs, [OURS]),
        goal: {
          goal: `${title}: the SDK takes at least ${least} x`,
          figure: times,
          met: times >= least,
        },
      });
    }
    const side = (/** @type {string} */ name) => ({ name, directory, sampled: true });
    const heap = [OURS, SDK].map((name) => [name, inProcess('heap', side(name))]);
    const spans = quick ? 1.2 * EARLY_SPANS : MOST_SPANS;
    const [heapEarly, rssEarly, heapLate, rssLate] = inProcess('memory', side(OURS), spans);
    const isFlat = heapLate <= heapEarly + 2 && rssLate <= rssEarly + 20;
    return {
      tables: [
        ...comparisons.map(({ table }) => table),
        { title: 'Heap a span', columns: ['', 'bytes'], rows: heap },
        {
          title: `Memory with ${OPEN.toLocaleString('en-US')} open spans`,
          columns: ['spans', 'heap in MiB', 'process in MiB'],
          rows: [
            [EARLY_SPANS, heapEarly, rssEarly],
            [spans, heapLate, rssLate],
          ],
        },
      ],
      goals: [
        ...comparisons.map(({ goal }) => goal),
        {
          goal: "heap a span: less than the SDK's",
          figure: heap[0][1] / heap[1][1],
          met: heap[0][1] < heap[1][1],
        },
        { goal: 'memory is flat: MiB of heap more', figure: heapLate - heapEarly, met: isFlat },
      ],
      notes: [
        `Batches of ${OPERATIONS}, ${rounds} rounds. Each of the two has a thread of its own.`,
        'Writing and exporting are not counted.',
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const [, , task = ''] = process.argv;
if (!isMainThread) {
  await serve();
} else if (task.startsWith('{')) {
  const { what, side, spans } = JSON.parse(task);
  await (what === 'heap' ? printHeap(side) : printMemory(side, spans));
} else {
  await main(import.meta.url, {
    title: 'The cost of a span through the OpenTelemetry API',
    measure,
  });
}
