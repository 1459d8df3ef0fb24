// What a Heph span with two attributes costs, against an OpenTelemetry span and performance.measure.

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
        { name: 'startTrace + finishTrace with an object', run: runPlain, settle },
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
        costTable('Tracing that is off', off, []),
      ],
      goals: [
        {
          goal: 'OpenTelemetry span at least 9 x the compiled span',
          figure: cheaper,
          met: cheaper >= 9,
        },
        {
          goal: 'performance.measure dearer than the compiled span (times)',
          figure: cheaperMeasure,
          met: cheaperMeasure > 1,
        },
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
