import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TracewrightContextManager } from '../../src/otel/index.js';
import { startSpan } from '../../src/spans/start-span.js';
import { findingsOf } from '../heph/packets-of-file.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { chosenCalls, oneAtATime } from '../hostile-values.js';
import { recorded } from '../spans/span-trace.js';
import { registration, tracer } from './api-spans.js';

const directory = temporaryDirectory();

type Loose = (...values: unknown[]) => unknown;
type Call = (values: readonly unknown[], span: Span) => unknown;

/** A method of an object, whatever its arguments. */
const loose =
  (object: object, name: string): Loose =>
  (...values) =>
    ((object as Record<string, Loose>)[name] as Loose).apply(object, values);
const notCallable = (value: unknown): unknown => (typeof value === 'function' ? undefined : value);
const onSpan =
  (name: string): Call =>
  (values, span) =>
    loose(span, name)(...values);
const start = (...values: unknown[]): void => {
  (loose(tracer, 'startSpan')(...values) as Span).end();
};
const manager = new TracewrightContextManager(ROOT_CONTEXT);

const calls: readonly Call[] = [
  (values) => {
    start(...values);
  },
  ...['kind', 'attributes', 'links', 'startTime', 'root'].map((option): Call => ([value]) => {
    start('x', { [option]: value });
  }),
  ([value, other]) => {
    start('x', { attributes: { a: value, b: other } });
  },
  ([value, attributes]) => {
    start('x', { links: [value, { context: value, attributes }] });
  },
  ([value]) => {
    start('x', {}, ROOT_CONTEXT.setValue(Symbol.for('OpenTelemetry Context Key SPAN'), value));
  },
  ([value]) => {
    start('x', {}, ROOT_CONTEXT.setValue(Symbol.for('OpenTelemetry Baggage Key'), value));
  },
  (values) => loose(tracer, 'startActiveSpan')(...values.map(notCallable)),
  ([name, options, given]) =>
    loose(tracer, 'startActiveSpan')(name, notCallable(options), notCallable(given), () => 1),
  ...[
    'setAttribute',
    'setAttributes',
    'addEvent',
    'addLink',
    'addLinks',
    'setStatus',
    'updateName',
    'recordException',
    'spanContext',
    'isRecording',
  ].map(onSpan),
  ([value], span) => loose(span, 'setAttribute')('a', value),
  ([value, time], span) => loose(span, 'addEvent')('a', value, time),
  ([code, message], span) => loose(span, 'setStatus')({ code, message }),
  ([message], span) => loose(span, 'setStatus')({ code: 2, message }),
  ([time]) => {
    loose(tracer.startSpan('x'), 'end')(time);
  },
  (values) => loose(registration.provider, 'getTracer')(...values),
  ([given]) => loose(manager, 'with')(given, () => 1),
  ([given, value]) => loose(manager, 'with')(given, notCallable(value)),
  ([given, value]) => loose(manager, 'bind')(given, notCallable(value)),
  ([given]) => (loose(manager, 'attach')(given) as { dispose: Loose }).dispose(),
  ([carrier]) => propagation.extract(ROOT_CONTEXT, carrier),
  ([carrier], span) => {
    propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
  },
  ([value]) => propagation.extract(ROOT_CONTEXT, { traceparent: value, baggage: value }),
];

test('whatever is passed, nothing is thrown and the spans can be read', async () => {
  await fc.assert(
    fc.asyncProperty(
      chosenCalls(calls.length),
      fc.constantFrom('another span', 'throw', 'nothing'),
      async (chosen, mischief) => {
        let path = '';
        const misbehave = oneAtATime(() => {
          if (mischief === 'throw') throw new Error("the program's own");
          if (mischief === 'another span') startSpan('inner', { z: [1, 2] }).end();
        });
        const found = await recorded(directory, (place) => {
          path = place;
          const span = tracer.startSpan('outer');
          for (const [index, values] of chosen) {
            calls[index]!(
              values.map((make) => make(misbehave)),
              span,
            );
            expect(context.active()).toBe(ROOT_CONTEXT);
          }
          span.end();
          tracer.startSpan('last').end();
        });
        expect(
          findingsOf(path).filter((finding) => !/^no-events|converter|nesting/.test(finding)),
        ).toEqual([]);
        expect(found.some(({ name }) => name === 'last')).toBe(true);
        expect(found.every(({ spanId }) => spanId.length === 16)).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});

test('a proxy that states an endless length holds nobody up, in no call', async () => {
  const endless = (): unknown =>
    new Proxy([1, 2, 3], {
      get: (array, name) => (name === 'length' ? 2 ** 40 : (Reflect.get(array, name) as unknown)),
    });
  const found = await recorded(directory, () => {
    const span = tracer.startSpan('outer');
    for (const call of calls) {
      for (const make of [endless, () => [endless()], () => ({ a: endless(), b: [endless()] })]) {
        for (let at = 0; at < 4; at++) {
          const values: unknown[] = ['x', {}, ROOT_CONTEXT, undefined];
          values[at] = make();
          call(values, span);
        }
      }
    }
    span.end();
  });
  expect(found.some(({ name }) => name === 'last' || name === 'x')).toBe(true);
});

test('every wrong argument is counted', () => {
  const before = registration.provider.stats().wrongArguments;
  const span = tracer.startSpan('x');
  loose(span, 'setAttribute')(5, 'x');
  loose(span, 'setAttribute')('', 'x');
  loose(span, 'setAttribute')('x', () => 1);
  loose(span, 'addEvent')(7);
  loose(span, 'addLink')(null);
  loose(span, 'setStatus')('bad');
  loose(span, 'updateName')(undefined);
  // Without a place for spans nothing is looked at.
  expect(registration.provider.stats().wrongArguments).toBe(before + 1);
});
