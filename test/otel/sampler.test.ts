import { context, createContextKey, createTraceState, SpanKind, trace } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { TracewrightProvider } from '../../src/otel/index.js';
import type { SpanSampler } from '../../src/otel/index.js';
import { spansOf, tracer } from './api-spans.js';

const KEY = createContextKey('of a test');

test('a sampler sees what it decides about, and its results are recorded', async () => {
  const seen: unknown[][] = [];
  const sampler: SpanSampler = {
    shouldSample(...values) {
      seen.push(values);
      const traceState = createTraceState('a=1');
      const decision = { dropped: 0, 'recorded only': 1 }[values[2]] ?? 2;
      return { decision, attributes: { added: true }, traceState };
    },
  };
  const own = new TracewrightProvider({ sampler }).getTracer('own');
  const link = { context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 } };
  const spans = await spansOf(() => {
    context.with(context.active().setValue(KEY, 'value'), () => {
      const dropped = own.startSpan('dropped');
      expect(dropped.isRecording()).toBe(false);
      expect(dropped.spanContext().traceFlags).toBe(2);
      dropped.end();
      const recorded = own.startSpan('recorded only');
      expect(recorded.isRecording()).toBe(true);
      expect(recorded.spanContext().traceFlags).toBe(2);
      recorded.end();
      own.startActiveSpan(
        'both',
        { kind: SpanKind.SERVER, attributes: { a: 1 }, links: [link] },
        (span) => {
          expect(span.spanContext().traceFlags).toBe(3);
          expect(span.spanContext().traceState?.serialize()).toBe('a=1');
          own.startSpan('child').end();
          span.end();
        },
      );
    });
  });
  expect(
    spans.map(({ name, flags, attributes, traceState }) => ({
      name,
      flags,
      attributes,
      traceState,
    })),
  ).toEqual([
    { name: 'recorded only', flags: 2, attributes: { added: true }, traceState: '' },
    { name: 'child', flags: 3, attributes: { added: true }, traceState: '' },
    { name: 'both', flags: 3, attributes: { a: 1, added: true }, traceState: '' },
  ]);
  const [, , both, child] = seen as [Context, string, string, number, object, unknown[]][];
  expect(both?.[0].getValue(KEY)).toBe('value');
  expect(both?.slice(1)).toEqual(
    [spans[2]?.traceId, 'both', 1, { a: 1, added: true }, [link]].map((each, i) =>
      i === 3 ? { a: 1 } : each,
    ),
  );
  expect(child?.[1]).toBe(both?.[1]);
  expect(trace.getSpanContext(child![0])?.spanId).toBe(spans[2]?.spanId);
});

test("samplers of OpenTelemetry's SDK decide", async () => {
  const off = new TracewrightProvider({ sampler: new AlwaysOffSampler() }).getTracer('off');
  const based = new ParentBasedSampler({ root: new AlwaysOffSampler() });
  const parentBased = new TracewrightProvider({ sampler: based }).getTracer('based');
  const half = new TracewrightProvider({ sampler: new TraceIdRatioBasedSampler(0.5) }).getTracer(
    'half',
  );
  const spans = await spansOf(() => {
    off.startSpan('off').end();
    parentBased.startSpan('root').end();
    tracer.startActiveSpan('sampled', (span) => {
      parentBased.startSpan('below').end();
      span.end();
    });
    for (let i = 0; i < 1000; i++) half.startSpan('half').end();
  });
  const names = spans.map(({ name }) => name);
  expect(names.filter((name) => name !== 'half')).toEqual(['below', 'sampled']);
  const halves = names.filter((name) => name === 'half').length;
  expect(halves).toBeGreaterThan(350);
  expect(halves).toBeLessThan(650);
});

test.each([
  () => {
    throw new Error('a sampler');
  },
  () => undefined,
  () => ({ decision: 7 }),
  () => ({ decision: 2, attributes: 5, traceState: 'x' }),
])('a sampler that breaks its rules lets spans be recorded: %s', async (shouldSample) => {
  const provider = new TracewrightProvider({ sampler: { shouldSample } as unknown as SpanSampler });
  const spans = await spansOf(() => {
    provider.getTracer('own').startSpan('a').end();
  });
  expect(spans).toHaveLength(1);
  expect(provider.stats().wrongArguments).toBeGreaterThan(0);
});
