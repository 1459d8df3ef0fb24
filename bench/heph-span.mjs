// What a Heph span with two attributes costs, compared with an OpenTelemetry span and performance.measure.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { openTrace } from 'tracewright/heph';
import { alternate, cost, costTable, ratio } from './alternating.mjs';
import { main } from './benchmark.mjs';

const COMPILED = 'startTrace + compiled finish';
const OTEL = 'OpenTelemetry span';
const OBJECT = 'startTrace + finishTrace with an object';
const TYPES = 'the same, types change';
const ORDERS = 'the same, order changes';
const SMALL_IDS = 'four small integers';
const WIDE_IDS = 'four integers above 2^32';
const BIGINT_IDS = 'four bigints above 2^63';
/** Below the queue of the batch processor (2,048), beyond which it drops spans, and is fast. */
const OPERATIONS = 2000;

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const trace = openTrace(join(directory, 'bench.heph'));
  const stream = trace.stream();
  const disabled = openTrace(join(directory, 'disabled.heph'), { enabled: false }).stream();
  let exported = 0;
  const processor = new BatchSpanProcessor({
    export(spans, done) {
      exported += spans.length;
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  });
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  const tracer = provider.getTracer('bench');
  try {
    const span = stream.span('request', { method: 'string', status: 'u64' });
    const nothing = disabled.span('request', { method: 'string', status: 'u64' });
    const never = disabled.startTrace();

    // Two of each, so that no constant is folded into the code.
    const methods = ['GET', 'POST'];
    const statuses = [200, 404];
    let started = 0;

    /** @param {number} count */
    const runCompiled = (count) => {
      for (let i = 0; i < count; i++) {
        span.finish(stream.startTrace(), methods[i & 1], statuses[i & 1]);
      }
    };
    /** @param {number} count */
    const runPlain = (count) => {
      for (let i = 0; i < count; i++) {
        const timing = stream.startTrace();
        stream.finishTrace(timing, 'request', { method: methods[i & 1], status: statuses[i & 1] });
      }
    };
    const mixed = [200, 'found', 1.5, -3, true, 2 ** 40];
    /** @param {number} count */
    const runTypes = (count) => {
      for (let i = 0; i < count; i++) {
        const timing = stream.startTrace();
        stream.finishTrace(timing, 'request', { method: methods[i & 1], status: mixed[i % 6] });
      }
    };
    /** @param {number} count */
    const runOrders = (count) => {
      for (let i = 0; i < count; i++) {
        const timing = stream.startTrace();
        const method = methods[i & 1];
        const status = statuses[i & 1];
        stream.finishTrace(timing, 'request', i & 1 ? { method, status } : { status, method });
      }
    };
    let named = 0;
    /** @param {number} count */
    const runNames = (count) => {
      for (let i = 0; i < count; i++) {
        const timing = stream.startTrace();
        const name = `request ${named++ % 1_000_000}`;
        stream.finishTrace(timing, name, { method: methods[i & 1], status: statuses[i & 1] });
      }
    };
    const ids = stream.span('ids', { a: 'u64', b: 'u64', c: 'u64', d: 'u64' });
    /** @param {readonly (number | bigint)[]} values */
    const runIds = (values) => (/** @type {number} */ count) => {
      for (let i = 0; i < count; i++) {
        ids.finish(stream.startTrace(), values[i & 1], values[0], values[1], values[i & 1]);
      }
    };
    /** @param {number} count */
    const runOpenTelemetry = (count) => {
      started += count;
      for (let i = 0; i < count; i++) {
        const open = tracer.startSpan('request');
        open.setAttribute('method', methods[i & 1]);
        open.setAttribute('status', statuses[i & 1]);
        open.end();
      }
    };
    /** @param {number} count */
    const runMeasure = (count) => {
      for (let i = 0; i < count; i++) {
        const start = performance.now();
        performance.measure('request', {
          start,
          detail: { method: methods[i & 1], status: statuses[i & 1] },
        });
      }
    };
    /** @param {number} count */
    const runStart = (count) => {
      for (let i = 0; i < count; i++) stream.startTrace();
    };
    /** @param {number} count */
    const runNothing = (count) => {
      for (let i = 0; i < count; i++) nothing.finish(never, 'GET', 200);
    };
    /** @param {number} count */
    const runDisabled = (count) => {
      for (let i = 0; i < count; i++) {
        nothing.finish(disabled.startTrace(), 'GET', 200);
      }
    };

    const settle = () => trace.flush();
    const rounds = quick ? 20 : 300;
    const costs = await alternate(
      [
        { name: COMPILED, run: runCompiled, settle },
        { name: OBJECT, run: runPlain, settle },
        { name: TYPES, run: runTypes, settle },
        { name: ORDERS, run: runOrders, settle },
        { name: 'the same, a million descriptions', run: runNames, settle },
        { name: OTEL, run: runOpenTelemetry, settle: () => processor.forceFlush() },
        {
          name: 'performance.measure with detail',
          run: runMeasure,
          settle: () => {
            performance.clearMeasures();
          },
        },
        { name: 'startTrace alone', run: runStart },
      ],
      { operations: OPERATIONS, rounds },
    );
    const integers = await alternate(
      [
        { name: SMALL_IDS, run: runIds([17, 18]), settle },
        { name: WIDE_IDS, run: runIds([2 ** 40 + 5, 2 ** 52 + 7]), settle },
        { name: BIGINT_IDS, run: runIds([0x8234567890abcdefn, 0xfedcba0987654321n]), settle },
      ],
      { operations: OPERATIONS, rounds },
    );
    const off = await alternate(
      [
        { name: 'finish of nothing', run: runNothing },
        { name: 'startTrace + finish, trace disabled', run: runDisabled },
      ],
      { operations: 100_000, rounds },
    );
    if (exported !== started) throw new Error(`OpenTelemetry dropped ${started - exported} spans`);
    const { dropped } = trace.stats();
    if (dropped.events > 0) throw new Error(`${dropped.events} spans were dropped`);

    const cheaper = ratio(costs, OTEL, COMPILED);
    const cheaperMeasure = ratio(costs, 'performance.measure with detail', COMPILED);
    const nothingNs = cost(off, 'finish of nothing');
    return {
      tables: [
        costTable('A span with two attributes, a string and an integer', costs, [COMPILED]),
        costTable('A compiled span with four u64', integers, [SMALL_IDS]),
        costTable('Tracing that is off', off, []),
      ],
      goals: [
        {
          goal: 'OpenTelemetry span at least 9 x the compiled span',
          figure: cheaper,
          met: cheaper >= 9,
        },
        {
          goal: 'performance.measure costs more than the compiled span (times)',
          figure: cheaperMeasure,
          met: cheaperMeasure > 1,
        },
        ...[OBJECT, TYPES, ORDERS].map((name) => ({
          goal: `${name}: at most 2 x the compiled span`,
          figure: ratio(costs, name, COMPILED),
          met: ratio(costs, name, COMPILED) <= 2,
        })),
        ...[
          { name: WIDE_IDS, most: 1.25 },
          { name: BIGINT_IDS, most: 1.5 },
        ].map(({ name, most }) => ({
          goal: `${name}: at most ${most} x small ones`,
          figure: ratio(integers, name, SMALL_IDS),
          met: ratio(integers, name, SMALL_IDS) <= most,
        })),
        { goal: 'finish of nothing at most 3 ns', figure: nothingNs, met: nothingNs <= 3 },
      ],
      notes: [
        `Batches of ${OPERATIONS} spans, ${rounds} rounds. Exporting (to nowhere), clearing and writing happen between the batches and are not counted.`,
      ],
    };
  } finally {
    await trace.close();
    await provider.shutdown();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, { title: 'The cost of a Heph span', measure });
