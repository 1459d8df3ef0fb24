import { context, createContextKey, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Span, SpanOptions } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { activeSpan, withSpan } from '../../src/spans/active-span.js';
import { spansOf, tracer, withActive } from './api-spans.js';

const KEY = createContextKey('of a test');

test('a span has the name, kind, attributes and scope that it was started with', async () => {
  const [span] = await spansOf(() => {
    trace
      .getTracerProvider()
      .getTracer('library', '1.2.3', { schemaUrl: 'https://example.org/1' })
      .startSpan('work', { kind: SpanKind.CLIENT, attributes: { a: 1, b: ['x', 'y'] } })
      .end();
  });
  expect(span).toMatchObject({
    name: 'work',
    kind: 'client',
    attributes: { a: 1, b: ['x', 'y'] },
    scope: { name: 'library', version: '1.2.3', schemaUrl: 'https://example.org/1' },
    status: { code: 'unset' },
  });
  expect(span?.parentSpanId).toBeUndefined();
});

test.each(['0', '1'])(
  'spans of Next.js that say nothing are counted, verbose: %s',
  async (verbose) => {
    process.env['NEXT_OTEL_VERBOSE'] = verbose;
    const next = trace.getTracer('next.js');
    const end = (span: Span): void => {
      span.end();
    };
    let count = 0;
    const spans = await spansOf(() => {
      withSpan('request', {}, (request) => {
        next.startActiveSpan('GET /users/[id]', { kind: SpanKind.SERVER }, (server) => {
          next.startActiveSpan('render', (render) => {
            next.startActiveSpan('fetch', { kind: SpanKind.CLIENT }, end);
            render.end();
          });
          for (let at = 0; at < 20; at++) next.startActiveSpan('quick', end);
          next.startActiveSpan('fails', (span) => {
            span.setStatus({ code: 2 });
            span.end();
          });
          const now = Date.now();
          next.startSpan('slow', { startTime: now }).end(now + 5);
          // The program's own are recorded.
          tracer.startActiveSpan('own', end);
          server.end();
        });
        count = (request as unknown as { omitted?: { count: number } }).omitted?.count ?? 0;
      });
    });
    delete process.env['NEXT_OTEL_VERBOSE'];
    const names = spans.map(({ name }) => name);
    const others = names.filter((name) => name !== 'quick');
    const wanted = ['GET /users/[id]', 'fails', 'fetch', 'own', 'render', 'request', 'slow'];
    expect(others.sort()).toEqual(wanted);
    // Some may take a millisecond.
    expect(names.length - others.length + count).toBe(20);
    if (verbose === '1') expect(count).toBe(0);
    else expect(count).toBeGreaterThan(5);
  },
);

test('the three forms of startActiveSpan make the span active and return what the function does', async () => {
  const other = ROOT_CONTEXT.setValue(KEY, 'kept');
  const spans = await spansOf(() => {
    const result = tracer.startActiveSpan('one', (one) => {
      expect(trace.getActiveSpan()).toBe(one);
      expect(activeSpan()).toBe(one);
      tracer.startActiveSpan('two', { kind: SpanKind.SERVER }, (two) => {
        expect(trace.getActiveSpan()).toBe(two);
        tracer.startActiveSpan('three', { attributes: { n: 3 } }, other, (three) => {
          expect(trace.getActiveSpan()).toBe(three);
          expect(context.active().getValue(KEY)).toBe('kept');
          three.end();
        });
        expect(trace.getActiveSpan()).toBe(two);
        two.end();
      });
      one.end();
      return 'result';
    });
    expect(result).toBe('result');
    expect(trace.getActiveSpan()).toBeUndefined();
    expect(context.active()).toBe(ROOT_CONTEXT);
  });
  const [three, two, one] = spans;
  expect(spans.map(({ name }) => name)).toEqual(['three', 'two', 'one']);
  expect(two).toMatchObject({ kind: 'server', parentSpanId: one?.spanId, traceId: one?.traceId });
  expect(three?.parentSpanId).toBeUndefined();
  expect(three?.traceId).not.toBe(one?.traceId);
});

test('a span below an API context and spans of tracewright/spans are parents of each other', async () => {
  const spans = await spansOf(() => {
    const outer = tracer.startSpan('outer');
    withActive(outer, () => {
      withSpan('own', undefined, (own) => {
        expect(trace.getActiveSpan()).toBe(own);
        tracer.startSpan('inner').end();
      });
    });
    outer.end();
  });
  const [inner, own, outer] = spans;
  expect(own?.parentSpanId).toBe(outer?.spanId);
  expect(inner?.parentSpanId).toBe(own?.spanId);
});

test('root begins a new trace and keeps the values of the context', async () => {
  const [root, outer] = await spansOf(() => {
    context.with(context.active().setValue(KEY, 1), () => {
      tracer.startActiveSpan('outer', (span) => {
        tracer.startActiveSpan('root', { root: true }, (inner) => {
          expect(context.active().getValue(KEY)).toBe(1);
          inner.end();
        });
        span.end();
      });
    });
  });
  expect(root?.parentSpanId).toBeUndefined();
  expect(root?.traceId).not.toBe(outer?.traceId);
});

test('a tracer that was got before the registration records too', async () => {
  const spans = await spansOf(() => {
    trace.getTracer('early').startSpan('a').end();
  });
  expect(spans[0]?.scope?.name).toBe('early');
});

test('options of any form break nothing', async () => {
  const hostile: unknown[] = [
    null,
    1,
    'x',
    [],
    () => undefined,
    new Proxy({}, { get: () => fail() }),
    { kind: 9, attributes: 5, links: 7, startTime: 'never', root: 'yes' },
    { links: [null, {}, { context: null }, { context: { traceId: 'x' } }] },
  ];
  const spans = await spansOf(() => {
    for (const options of hostile) tracer.startSpan('a', options as SpanOptions).end();
    const { startSpan } = tracer as unknown as { startSpan: (name: unknown) => Span };
    for (const name of [undefined, null, 5, Symbol('x'), {}]) startSpan.call(tracer, name).end();
  });
  expect(spans).toHaveLength(hostile.length + 5);
});

function fail(): never {
  throw new Error('a getter');
}
