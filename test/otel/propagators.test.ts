import { context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { TextMapGetter, TextMapSetter } from '@opentelemetry/api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { W3CPropagator } from '../../src/otel/propagators.js';
import { inject } from '../../src/spans/propagation.js';
import { spansOf, tracer } from './api-spans.js';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const propagator = new W3CPropagator();

test('what is injected is extracted: ids, flags, state and baggage with properties', async () => {
  await spansOf(() => {
    const received = propagation.extract(ROOT_CONTEXT, {
      traceparent: PARENT,
      tracestate: 'a=1,b=2',
      baggage: 'user=x%20y;p=1;q,other=z',
    });
    expect(trace.getSpanContext(received)).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      traceFlags: 1,
      isRemote: true,
    });
    const baggage = propagation.getBaggage(received);
    expect(baggage?.getEntry('user')?.value).toBe('x y');
    expect(String(baggage?.getEntry('user')?.metadata)).toBe('p=1;q');
    tracer.startActiveSpan('a', {}, received, (span) => {
      const headers: Record<string, string> = {};
      propagation.inject(context.active(), headers);
      expect(headers).toEqual({
        traceparent: `00-0af7651916cd43dd8448eb211c80319c-${span.spanContext().spanId}-01`,
        tracestate: 'a=1,b=2',
        baggage: 'user=x%20y;p=1;q,other=z',
      });
      expect(inject({})).toEqual({ ...headers, baggage: 'user=x%20y,other=z' });
      expect(span.spanContext().traceState?.get('b')).toBe('2');
      span.end();
    });
  });
});

test('what was handed on in headers is below the local root that is active', async () => {
  const spans = await spansOf(() => {
    tracer.startActiveSpan('request', { kind: SpanKind.SERVER }, (request) => {
      const headers = {};
      tracer.startActiveSpan('proxy', { kind: SpanKind.SERVER }, (proxy) => {
        propagation.inject(context.active(), headers);
        proxy.end();
      });
      const received = propagation.extract(ROOT_CONTEXT, headers);
      tracer.startSpan('page', { kind: SpanKind.SERVER }, received).end();
      request.end();
    });
    // Of another trace.
    const other = propagation.extract(ROOT_CONTEXT, { traceparent: PARENT });
    tracer.startSpan('other', { kind: SpanKind.SERVER }, other).end();
  });
  expect(
    spans.map(({ name, isNested, parentIsRemote }) => [name, isNested, parentIsRemote]),
  ).toEqual([
    ['proxy', true, false],
    ['page', true, false],
    ['request', undefined, false],
    ['other', undefined, true],
  ]);
});

test('trace states change by W3C rules', () => {
  const received = propagation.extract(ROOT_CONTEXT, {
    traceparent: PARENT,
    tracestate: 'a=1,b=2',
  });
  const state = trace.getSpanContext(received)?.traceState;
  expect(state?.set('b', '3').serialize()).toBe('b=3,a=1');
  expect(state?.set('c', '3').unset('a').serialize()).toBe('c=3,b=2');
  expect(state?.set('not valid', '3').serialize()).toBe('a=1,b=2');
  expect(state?.get('none')).toBeUndefined();
  expect(state?.serialize()).toBe('a=1,b=2');
});

test.each([
  '',
  'x',
  '00-0-0-00',
  PARENT.replace('00-', 'ff-'),
  `${PARENT}-x`,
  PARENT.replaceAll(/[a-f\d]/g, '0'),
])('the traceparent "%s" changes nothing', (traceparent) => {
  expect(propagation.extract(ROOT_CONTEXT, { traceparent })).toBe(ROOT_CONTEXT);
});

test('getters and setters of the program are used', () => {
  const getter: TextMapGetter<Map<string, string>> = {
    get: (carrier, key) => carrier.get(key),
    keys: (carrier) => [...carrier.keys()],
  };
  const setter: TextMapSetter<Map<string, string>> = {
    set: (carrier, key, value) => carrier.set(key, value),
  };
  const received = propagator.extract(ROOT_CONTEXT, new Map([['traceparent', PARENT]]), getter);
  const carrier = new Map<string, string>();
  propagator.inject(received, carrier, setter);
  expect([...carrier]).toEqual([['traceparent', PARENT]]);
  expect(propagator.fields()).toEqual(['traceparent', 'tracestate', 'baggage']);
});

test('whatever the headers are, nothing is thrown, and what is sent on is valid', () => {
  const header = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      PARENT,
      'a=1',
      'a=1,a=2',
      'k=v;p',
      ',,;;==',
      undefined,
      5,
      null,
      [PARENT],
      [PARENT, PARENT],
      {},
    ),
    fc.array(fc.string()),
  );
  fc.assert(
    fc.property(header, header, header, (traceparent, tracestate, baggage) => {
      const carrier = { traceparent, tracestate, baggage };
      const received = propagation.extract(ROOT_CONTEXT, carrier);
      const sent: Record<string, string> = {};
      propagation.inject(received, sent);
      for (const value of Object.values(sent)) expect(value).toMatch(/^[\t\x20-\x7e]+$/);
      const again = propagation.extract(ROOT_CONTEXT, sent);
      expect(trace.getSpanContext(again)?.traceId).toBe(trace.getSpanContext(received)?.traceId);
      expect(propagation.getBaggage(again)?.getAllEntries().length).toBe(
        propagation.getBaggage(received)?.getAllEntries().length,
      );
    }),
    { numRuns: 2000 },
  );
});
