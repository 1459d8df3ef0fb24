import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, createContextKey, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { TracewrightContextManager } from '../../src/otel/index.js';
import { getBaggage, withBaggage } from '../../src/spans/propagation.js';
import { activeSpan, withSpan } from '../../src/spans/active-span.js';
import { startSpan } from '../../src/spans/start-span.js';
import { registration, spansOf, tracer, withActive } from './api-spans.js';

const KEY = createContextKey('a value');
const OTHER = createContextKey('another value');
const REMOTE = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: 1,
};
const manager = new TracewrightContextManager(ROOT_CONTEXT);
const value = (): unknown => context.active().getValue(KEY);

afterEach(() => {
  expect(context.active()).toBe(ROOT_CONTEXT);
});

test('the context that is given is the one that is active', () => {
  for (const given of [ROOT_CONTEXT, ROOT_CONTEXT.setValue(KEY, 1)]) {
    context.with(given, () => {
      expect(context.active()).toBe(given);
      context.with(given.setValue(OTHER, 2), () => {
        expect(context.active().getValue(OTHER)).toBe(2);
      });
      expect(context.active()).toBe(given);
    });
  }
});

test('with passes this and arguments, returns the result and throws on', () => {
  const self = { n: 1 };
  const sum = function (this: typeof self, a: number, b: number): number {
    return this.n + a + b;
  };
  expect(context.with(ROOT_CONTEXT, sum, self, 2, 3)).toBe(6);
  expect(context.with(ROOT_CONTEXT, (a: number) => a, undefined, 7)).toBe(7);
  expect(() =>
    context.with(ROOT_CONTEXT, () => {
      throw new RangeError('thrown');
    }),
  ).toThrow(RangeError);
});

test('a context stays active across awaits, timers and generators, apart from others', async () => {
  async function* generate(): AsyncGenerator {
    yield value();
    await sleep(1);
    yield value();
  }
  const run = async (n: number): Promise<void> => {
    expect(value()).toBe(n);
    await sleep(Math.random() * 5);
    expect(value()).toBe(n);
    for await (const each of generate()) expect(each).toBe(n);
    await new Promise((resolve) => setImmediate(resolve));
    expect(value()).toBe(n);
  };
  await Promise.all(
    [1, 2, 3, 4].map((n) => context.with(ROOT_CONTEXT.setValue(KEY, n), () => run(n))),
  );
});

test('values survive spans and baggage of tracewright/spans, and spans of tracers', async () => {
  await spansOf(() => {
    context.with(ROOT_CONTEXT.setValue(KEY, 'kept'), () => {
      withSpan('own', undefined, (own) => {
        expect(value()).toBe('kept');
        expect(trace.getActiveSpan()).toBe(own);
        withBaggage({ user: 'x' }, () => {
          expect(value()).toBe('kept');
          tracer.startActiveSpan('api', (span) => {
            expect(value()).toBe('kept');
            expect(getBaggage()).toEqual({ user: 'x' });
            const changed = context.active().setValue(KEY, 'changed').deleteValue(OTHER);
            context.with(changed, () => {
              expect(value()).toBe('changed');
              expect(activeSpan()).toBe(span);
              expect(context.active().deleteValue(KEY).getValue(KEY)).toBeUndefined();
            });
            span.end();
          });
        });
        expect(trace.getSpan(trace.deleteSpan(context.active()))).toBeUndefined();
      });
    });
  });
});

test('baggage of both APIs is the same', () => {
  withBaggage({ a: '1' }, () => {
    const baggage = propagation.getActiveBaggage();
    expect(baggage?.getEntry('a')).toEqual({ value: '1' });
    expect(propagation.getActiveBaggage()).toBe(baggage);
    const more = baggage!.setEntry('b', { value: '2' });
    context.with(propagation.setBaggage(context.active(), more), () => {
      expect(propagation.getActiveBaggage()).toBe(more);
      expect(getBaggage()).toEqual({ a: '1', b: '2' });
      withBaggage({ a: '3' }, () => {
        expect(propagation.getActiveBaggage()?.getAllEntries()).toEqual([
          ['a', { value: '3' }],
          ['b', { value: '2' }],
        ]);
      });
    });
  });
});

test('spans of other libraries are active as they are, and parents of ours', async () => {
  const foreign = trace.wrapSpanContext({ ...REMOTE, isRemote: true });
  const [own, api] = await spansOf(() => {
    withActive(foreign, () => {
      expect(trace.getActiveSpan()).toBe(foreign);
      expect(activeSpan()?.ids).toMatchObject({ trace_id: REMOTE.traceId, span_id: REMOTE.spanId });
      startSpan('own').end();
      tracer.startSpan('api').end();
    });
  });
  for (const span of [own, api]) {
    expect(span).toMatchObject({
      traceId: REMOTE.traceId,
      parentSpanId: REMOTE.spanId,
      parentIsRemote: true,
    });
  }
});

test('an unsampled parent of another library is followed', async () => {
  const spans = await spansOf(() => {
    withActive(trace.wrapSpanContext({ ...REMOTE, traceFlags: 0 }), () => {
      const span = tracer.startSpan('api');
      expect(span.isRecording()).toBe(false);
      expect(span.spanContext()).toMatchObject({ traceId: REMOTE.traceId, traceFlags: 0 });
      span.end();
    });
  });
  expect(spans).toEqual([]);
});

test('suppressed tracing records nothing, in neither API', async () => {
  const suppressed = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
  const spans = await spansOf(() => {
    tracer.startActiveSpan('outer', (outer) => {
      context.with(context.active().setValue(suppressed, true), () => {
        tracer.startActiveSpan('api', (span) => {
          expect(trace.isSpanContextValid(span.spanContext())).toBe(false);
          withSpan('own', undefined, () => {
            startSpan('inner').end();
          });
          span.end();
        });
        const headers = {};
        propagation.inject(context.active(), headers);
        expect(headers).toEqual({});
      });
      outer.end();
    });
  });
  expect(spans.map(({ name }) => name)).toEqual(['outer']);
});

test('bound functions have the context of then, their own this, and their length', () => {
  const bound = context.bind(
    ROOT_CONTEXT.setValue(KEY, 1),
    function (this: unknown, a: number, b: number) {
      return [this, value(), a + b];
    },
  );
  const self = {};
  expect(bound.length).toBe(2);
  expect(bound.call(self, 1, 2)).toEqual([self, 1, 3]);
  expect(value()).toBeUndefined();
  const target = { no: 'function' };
  expect(context.bind(ROOT_CONTEXT, target)).toBe(target);
});

test('listeners of a bound emitter have the context, once each, and can be removed', () => {
  const emitter = new EventEmitter();
  expect(context.bind(ROOT_CONTEXT.setValue(KEY, 1), emitter)).toBe(emitter);
  context.bind(ROOT_CONTEXT.setValue(KEY, 2), emitter);
  const seen: unknown[] = [];
  const listener = (name: string): void => {
    seen.push(name, value());
  };
  const adders = ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'] as const;
  for (const add of adders) {
    for (const remove of ['off', 'removeListener'] as const) {
      emitter[add](add, listener);
      emitter[remove](add, listener);
      expect(emitter.listenerCount(add), add).toBe(0);
    }
    emitter[add](add, listener);
    emitter.emit(add, add);
    emitter.emit(add, add);
    emitter.removeAllListeners(add);
  }
  expect(seen).toEqual(
    adders.flatMap((name) => (/once/i.test(name) ? [name, 1] : [name, 1, name, 1])),
  );
});

test('attach makes a context active until it is disposed of, once', () => {
  const outer = manager.attach(ROOT_CONTEXT.setValue(KEY, 1));
  expect(value()).toBe(1);
  const inner = manager.attach(ROOT_CONTEXT.setValue(KEY, 2));
  expect(value()).toBe(2);
  inner.dispose();
  expect(value()).toBe(1);
  outer.dispose();
  inner.dispose();
  expect(value()).toBeUndefined();
});

test('wrong contexts and functions break nothing and are counted', () => {
  const before = registration.provider.stats().wrongArguments;
  for (const wrong of [undefined, null, 5, 'x', {}, [], () => 1]) {
    expect(manager.with(wrong as Context, () => 'done')).toBe('done');
  }
  expect(manager.with(ROOT_CONTEXT, 5 as unknown as () => unknown)).toBeUndefined();
  expect(registration.provider.stats().wrongArguments).toBeGreaterThan(before);
});

test('contexts of a class that is not known keep their values', async () => {
  class Custom implements Context {
    readonly #base: Context;
    constructor(base: Context) {
      this.#base = base;
    }
    getValue(key: symbol): unknown {
      return this.#base.getValue(key);
    }
    setValue(key: symbol, to: unknown): Context {
      return new Custom(this.#base.setValue(key, to));
    }
    deleteValue(key: symbol): Context {
      return new Custom(this.#base.deleteValue(key));
    }
  }
  const [inner] = await spansOf(() => {
    const span = tracer.startSpan('outer');
    const custom = trace.setSpan(new Custom(ROOT_CONTEXT.setValue(KEY, 1)), span);
    context.with(custom, () => {
      expect(context.active()).toBe(custom);
      tracer.startActiveSpan('inner', (each) => {
        expect(value()).toBe(1);
        each.end();
      });
    });
    span.end();
  });
  expect(inner?.parentSpanId).toBeDefined();
});
