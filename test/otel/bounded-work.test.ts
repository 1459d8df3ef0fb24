import { createTraceState, context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Attributes, Baggage } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { TracewrightProvider } from '../../src/otel/index.js';
import type { ReadableSpan, SpanProcessor } from '../../src/otel/index.js';
import { registration, spanOf, spansOf, tracer } from './api-spans.js';

/** An array that states a length of its own. */
function stating(length: number): unknown[] {
  return new Proxy([1], {
    get: (array, name) => (name === 'length' ? length : (Reflect.get(array, name) as unknown)),
  });
}

const wrongArguments = (): number => registration.provider.stats().wrongArguments;

class Ended implements SpanProcessor {
  readonly attributes: unknown[] = [];
  onStart(): void {
    // Nothing yet.
  }
  onEnd({ attributes }: ReadableSpan): void {
    this.attributes.push(attributes);
  }
  forceFlush(): Promise<void> {
    return Promise.resolve();
  }
  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

test('processors get of an array what is written of it, and the other attributes', async () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  let branching: unknown[] = ['leaf'];
  for (let i = 0; i < 40; i++) branching = [branching, branching];
  let deep: unknown[] = ['leaf'];
  for (let i = 0; i < 9; i++) deep = [deep];
  const ended = new Ended();
  const provider = new TracewrightProvider({ spanProcessors: [ended] });
  const given = {
    first: [1, ['x']],
    endless: stating(2 ** 31),
    cyclic,
    branching,
    deep,
    last: 'x',
  };
  const [span] = await spansOf(() => {
    provider
      .getTracer('t')
      .startSpan('x', { attributes: given as Attributes })
      .end();
  });
  await provider.shutdown();
  const written = { first: [1, ['x']], deep: [[[[[[[['[["leaf"]]']]]]]]]], last: 'x' };
  expect(ended.attributes).toEqual([written]);
  expect(span!.attributes).toEqual(written);
});

test('a typed array is no set of attributes', async () => {
  const bytes = new Uint8Array(50 << 20) as unknown as Attributes;
  const before = wrongArguments();
  const { attributes, events } = await spanOf((span) => {
    span.setAttributes(bytes).addEvent('event', bytes);
    tracer.startSpan('other', { attributes: bytes }).end();
  });
  expect(attributes).toEqual({});
  expect(events).toMatchObject([{ name: 'event', attributes: {} }]);
  expect(wrongArguments() - before).toBe(3);
});

test('attributes without a name are ignored and counted, wherever they are given', async () => {
  const unnamed = { '': 'x', a: 1 };
  const before = wrongArguments();
  const spans = await spansOf(() => {
    const span = tracer.startSpan('x', { attributes: unnamed });
    span.setAttributes(unnamed).addEvent('event', unnamed);
    span.addLink({ context: span.spanContext(), attributes: unnamed }).end();
  });
  const [{ attributes, events, links }] = spans as [(typeof spans)[0]];
  expect([attributes, events[0]!.attributes, links[0]!.attributes]).toEqual([
    { a: 1 },
    { a: 1 },
    { a: 1 },
  ]);
  expect(wrongArguments() - before).toBe(4);
});

test('baggage without an end is none', async () => {
  const endless = { getAllEntries: () => stating(2 ** 40) } as unknown as Baggage;
  const inContext = propagation.setBaggage(ROOT_CONTEXT, endless);
  const carrier = {};
  const [span] = await spansOf(() => {
    context.with(inContext, () => {
      tracer.startActiveSpan('x', (active) => {
        propagation.inject(context.active(), carrier);
        active.end();
      });
    });
  });
  expect(Object.keys(carrier)).toEqual(['traceparent']);
  expect(span!.name).toBe('x');
});

test('keys and values of a trace state that are no texts change nothing', () => {
  const span = trace.wrapSpanContext({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: 1,
    traceState: createTraceState('a=1,b=2'),
  });
  const below = tracer.startSpan('x', {}, trace.setSpan(ROOT_CONTEXT, span));
  const state = below.spanContext().traceState!;
  const wrong = [Symbol('a'), 7, null, {}] as unknown as string[];
  for (const each of wrong) {
    expect(state.set(each, '1').serialize()).toBe('a=1,b=2');
    expect(state.set('a', each).serialize()).toBe('a=1,b=2');
    expect(state.unset(each).serialize()).toBe('a=1,b=2');
    expect(state.get(each)).toBeUndefined();
  }
  below.end();
});

test('what are no span processors is an error that says so', () => {
  for (const wrong of [7, {}, stating(2 ** 40), [null], [{ onStart: () => undefined }]]) {
    expect(() => new TracewrightProvider({ spanProcessors: wrong as SpanProcessor[] })).toThrow(
      expect.objectContaining({ field: 'spanProcessors' }),
    );
  }
});
