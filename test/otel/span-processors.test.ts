import type { Context, Span as ApiSpan } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { BatchSpanProcessor as SdkBatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan as SdkReadableSpan } from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';
import { TracewrightProvider } from '../../src/otel/index.js';
import type { ReadableSpan, SpanProcessor } from '../../src/otel/index.js';
import { withSpan } from '../../src/spans/active-span.js';
import { registration, spansOf, tracer } from './api-spans.js';

let provider: TracewrightProvider | undefined;
afterEach(() => provider?.shutdown());

class Collecting implements SpanProcessor {
  readonly started: [string, unknown][] = [];
  readonly ended: ReadableSpan[] = [];
  readonly calls: string[] = [];
  onStart(span: ReadableSpan & ApiSpan, parent: Context): void {
    this.started.push([span.name, trace.getSpanContext(parent)?.spanId]);
    span.setAttribute('by.processor', this.started.length);
  }
  onEnd(span: ReadableSpan): void {
    this.ended.push(span);
  }
  forceFlush(): Promise<void> {
    this.calls.push('forceFlush');
    return Promise.resolve();
  }
  shutdown(): Promise<void> {
    this.calls.push('shutdown');
    return Promise.resolve();
  }
}

const nanoseconds = ([s, ns]: readonly [number, number]): bigint =>
  BigInt(s) * 1_000_000_000n + BigInt(ns);

test('a processor sees what is recorded: of tracers and of tracewright/spans', async () => {
  const collecting = new Collecting();
  provider = new TracewrightProvider({ spanProcessors: [collecting] });
  const library = provider.getTracer('library', '1.0', { schemaUrl: 'https://example.org/1' });
  const recorded = await spansOf(
    () => {
      library.startActiveSpan(
        'outer',
        { kind: SpanKind.PRODUCER, attributes: { a: 1 } },
        (span) => {
          span
            .addEvent('happened', { n: 1 })
            .setStatus({ code: SpanStatusCode.ERROR, message: 'bad' });
          withSpan('own', { b: 2 }, () => undefined);
          span.addLink({ context: span.spanContext(), attributes: { l: 1 } });
          span.end();
        },
      );
    },
    { service: 'shop' },
  );
  const [own, outer] = collecting.ended as [ReadableSpan, ReadableSpan];
  const outerId = outer.spanContext().spanId;
  expect(collecting.started).toEqual([
    ['outer', undefined],
    ['own', outerId],
  ]);
  expect(own).toMatchObject({
    name: 'own',
    kind: 0,
    ended: true,
    attributes: { b: 2, 'by.processor': 2 },
    parentSpanId: outerId,
    parentSpanContext: { traceId: outer.spanContext().traceId, spanId: outerId, traceFlags: 3 },
    instrumentationScope: { name: 'tracewright/spans' },
    status: { code: 0 },
  });
  expect(outer).toMatchObject({
    kind: 3,
    parentSpanContext: undefined,
    attributes: { a: 1, 'by.processor': 1 },
    status: { code: 2, message: 'bad' },
    links: [{ context: outer.spanContext(), attributes: { l: 1 } }],
    instrumentationScope: { name: 'library', version: '1.0', schemaUrl: 'https://example.org/1' },
    droppedAttributesCount: 0,
  });
  expect(outer.resource.attributes).toMatchObject({ 'service.name': 'shop' });
  expect(outer.resource).toBe(own.resource);
  const [, span] = recorded;
  expect(span?.attributes).toEqual({ a: 1, 'by.processor': 1 });
  expect(Math.abs(Number(nanoseconds(outer.startTime) - span!.start))).toBeLessThan(100_000_000);
  expect(nanoseconds(outer.endTime)).toBeGreaterThan(nanoseconds(outer.startTime));
  expect(nanoseconds(outer.duration)).toBeLessThanOrEqual(span!.end - span!.start);
  const [event] = outer.events;
  expect(event).toMatchObject({ name: 'happened', attributes: { n: 1 } });
  expect(nanoseconds(event!.time)).toBeGreaterThanOrEqual(nanoseconds(outer.startTime));
  await spansOf(() => undefined, { service: 'test' });
});

test.each([
  ['sdk-trace-base', (exporter: InMemorySpanExporter) => new BatchSpanProcessor(exporter)],
  ['sdk-trace', (exporter: InMemorySpanExporter) => new SdkBatchSpanProcessor({ exporter })],
])('a batch processor of @opentelemetry/%s exports the spans', async (_, processorOf) => {
  const exporter = new InMemorySpanExporter();
  provider = new TracewrightProvider({ spanProcessors: [processorOf(exporter)] });
  await spansOf(async () => {
    for (let i = 0; i < 10; i++) tracer.startSpan(`s${i}`).end();
    await provider?.forceFlush();
    const spans: SdkReadableSpan[] = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, i) => `s${i}`));
  });
});

test('what is redacted in the trace is redacted for processors', async () => {
  const collecting = new Collecting();
  provider = new TracewrightProvider({ spanProcessors: [collecting] });
  await spansOf(
    () => {
      const span = tracer.startSpan('GET /users/17', { attributes: { secret: 'x', user: 'y' } });
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'no such user' });
      span.addEvent('e', { secret: 'x' }).end();
    },
    { redact: { drop: ['secret', 'exception.message'], mask: ['user'], paths: [[/\d+/, ':id']] } },
  );
  await spansOf(() => undefined, { redact: {} });
  expect(collecting.ended[0]).toMatchObject({
    name: 'GET /users/:id',
    attributes: { user: '***', 'by.processor': 1 },
  });
  expect(collecting.ended[0]?.status.message ?? '').toBe('');
  expect(collecting.ended[0]?.attributes).not.toHaveProperty('secret');
  expect(collecting.ended[0]?.events[0]?.attributes).toEqual({});
});

test('processors that throw break nothing; after a shutdown they get nothing', async () => {
  const collecting = new Collecting();
  const breaking: SpanProcessor = {
    onStart() {
      throw new Error('a processor');
    },
    onEnd() {
      throw new Error('a processor');
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  provider = new TracewrightProvider({ spanProcessors: [breaking, collecting] });
  const before = await spansOf(() => {
    tracer.startSpan('a').end();
  });
  expect(before).toHaveLength(1);
  await provider.forceFlush();
  await provider.shutdown();
  expect(collecting.calls).toEqual(['forceFlush', 'shutdown']);
  await spansOf(() => {
    tracer.startSpan('b').end();
  });
  expect(collecting.ended.map(({ name }) => name)).toEqual(['a']);
  expect(registration.provider).not.toBe(provider);
});

test('a processor sees a span within the limits that hold for the trace', async () => {
  const collecting = new Collecting();
  provider = new TracewrightProvider({ spanProcessors: [collecting] });
  const library = provider.getTracer('library');
  const to = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
  const limits = { attributes: 3, valueLength: 4, links: 2, eventAttributes: 1, linkAttributes: 1 };
  const [recorded] = await spansOf(
    () => {
      const links = [{ context: to, attributes: { a: 1, b: 2 } }, { context: to }, { context: to }];
      library
        .startSpan('work', { attributes: { a: 'abcdef', b: ['abcdef', 'x'], c: 1, d: 2 }, links })
        .addEvent('happened', { a: 'abcdef', b: 2 })
        .end();
    },
    { limits },
  );
  const seen = collecting.ended.find(({ name }) => name === 'work');
  expect(seen?.attributes).toEqual(recorded?.attributes);
  expect(seen?.attributes['b']).toEqual(['abcd', 'x']);
  expect(seen?.droppedAttributesCount).toBe(recorded?.dropped.attributes);
  expect(seen?.events[0]?.attributes).toEqual({ a: 'abcd' });
  expect(seen?.links).toMatchObject([{ context: to, attributes: { a: 1 } }, { context: to }]);
  expect(seen?.links).toHaveLength(2);
  expect(seen?.links[1]).not.toHaveProperty('attributes');
  expect(seen?.droppedLinksCount).toBe(recorded?.dropped.links);
});

/** A processor that does nothing but what is given. */
function processorWith(own: Partial<SpanProcessor>): SpanProcessor {
  return {
    onStart: () => undefined,
    onEnd: () => undefined,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    ...own,
  };
}

test('what onEnding sets is recorded, and seen by onEnd', async () => {
  const collecting = new Collecting();
  const ending: [boolean, boolean, number][] = [];
  const changing = processorWith({
    onEnding(span) {
      const { ended, endTime } = span as ReadableSpan;
      ending.push([(span as ApiSpan).isRecording(), ended, Number(nanoseconds(endTime))]);
      (span as ApiSpan).updateName('renamed').setAttribute('a', 2).addEvent('ending');
      // It is ending already.
      (span as ApiSpan).end();
    },
  });
  provider = new TracewrightProvider({ spanProcessors: [collecting, changing] });
  const end = 1_700_000_000_000;
  const recorded = await spansOf(() => {
    tracer.startSpan('work', { startTime: end - 5, attributes: { a: 1 } }).end(end);
    withSpan('own', {}, () => undefined);
  });
  expect(recorded).toMatchObject([
    { name: 'renamed', attributes: { a: 2 }, events: [{ name: 'ending' }] },
    { name: 'renamed', attributes: { a: 2 }, events: [{ name: 'ending' }] },
  ]);
  expect(collecting.ended.map(({ name, attributes }) => [name, attributes['a']])).toEqual([
    ['renamed', 2],
    ['renamed', 2],
  ]);
  expect(ending.map(([isRecording, hasEnded]) => [isRecording, hasEnded])).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(Math.abs(Number(recorded[0]!.end) / 1e6 - end)).toBeLessThan(1);
  expect(Math.abs(ending[0]![2] / 1e6 - end)).toBeLessThan(1);
});

test('an onEnding that throws breaks nothing', async () => {
  const breaking = processorWith({
    onEnding() {
      throw new Error('a processor');
    },
  });
  provider = new TracewrightProvider({ spanProcessors: [breaking] });
  const recorded = await spansOf(() => {
    tracer.startSpan('a').end();
  });
  expect(recorded).toHaveLength(1);
});

test('forceFlush and shutdown wait for a processor no longer than they may', async () => {
  const never = new Promise<void>(() => undefined);
  const hanging = processorWith({ forceFlush: () => never, shutdown: () => never });
  const collecting = new Collecting();
  const own = new TracewrightProvider({
    spanProcessors: [hanging, collecting],
    forceFlushTimeoutMillis: 20,
  });
  const timeout = { code: 'ERR_TIMEOUT' };
  await expect(own.forceFlush()).rejects.toMatchObject(timeout);
  await expect(own.forceFlush({ timeoutMillis: 5 })).rejects.toThrow(
    'forceFlush takes longer than 5 ms',
  );
  const wrong = own.stats().wrongArguments;
  await expect(own.forceFlush({ timeoutMillis: -1 })).rejects.toThrow('longer than 20 ms');
  expect(own.stats().wrongArguments).toBe(wrong + 1);
  await expect(own.shutdown()).rejects.toMatchObject(timeout);
  expect(collecting.calls).toEqual(['forceFlush', 'forceFlush', 'forceFlush', 'shutdown']);
});

test('a processor that fails to flush does not keep the others from it', async () => {
  const failing = processorWith({
    forceFlush() {
      throw new Error('cannot flush');
    },
    shutdown: () => Promise.reject(new Error('cannot shut down')),
  });
  const collecting = new Collecting();
  const own = new TracewrightProvider({ spanProcessors: [failing, collecting] });
  await expect(own.forceFlush()).rejects.toThrow('cannot flush');
  await expect(own.shutdown()).rejects.toThrow('cannot shut down');
  expect(collecting.calls).toEqual(['forceFlush', 'shutdown']);
});
