import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as spans from '../../src/spans/index.js';
import type { Span } from '../../src/spans/index.js';
import { callHostile, chosenCalls, hostileValue, oneAtATime } from '../hostile-values.js';
import { findingsOf } from '../heph/packets-of-file.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { allSpans, recorded } from './span-trace.js';

const directory = temporaryDirectory();

type Loose = (...values: unknown[]) => unknown;
type Call = (values: readonly unknown[], span: Span) => unknown;

/** A function of the module, whatever its arguments. */
const loose = (name: keyof typeof spans): Loose => spans[name] as unknown as Loose;
const method =
  (name: keyof Span): Call =>
  (values, span) =>
    (span[name] as Loose).apply(span, [...values]);

const calls: readonly Call[] = [
  (values) => (loose('startSpan')(...values) as Span | undefined)?.end(),
  ([value]) => {
    (loose('startSpan')('x', value) as Span).end();
  },
  ([value]) => {
    (loose('startSpan')('x', { a: value }) as Span).end();
  },
  ([value]) => {
    (loose('startSpan')('x', {}, value) as Span).end();
  },
  ...['kind', 'parent', 'startTime', 'links'].map((option): Call => ([value]) => {
    (loose('startSpan')('x', {}, { [option]: value }) as Span).end();
  }),
  ([to, attributes]) => {
    (loose('startSpan')('x', {}, { links: [{ to, attributes }, to] }) as Span).end();
  },
  (values) => loose('withSpan')(...values),
  ([attributes, options]) => loose('withSpan')('x', attributes, () => 1, options),
  ([result]) => loose('withSpan')('x', {}, () => result),
  ([name, value], span) => (span.set as Loose).call(span, name, value),
  ([value], span) => (span.set as Loose).call(span, 'a', value),
  ([value], span) => (span.event as Loose).call(span, 'happened', value),
  ([value, time], span) => (span.event as Loose).call(span, 'happened', { a: value }, time),
  ...(['set', 'event', 'fail', 'rename', 'run'] as const).map(method),
  ([time]) => (loose('startSpan')('x') as { end: Loose }).end(time),
  ...(['configure', 'bind', 'inject', 'extract', 'withBaggage', 'setRoute'] as const).map(
    (name): Call =>
      (values) =>
        loose(name)(...values),
  ),
  ...['service', 'version', 'resource', 'sample', 'limits', 'redact', 'openSpans'].map(
    (option): Call =>
      ([value]) =>
        loose('configure')({ [option]: value }),
  ),
  ([value]) => loose('withBaggage')({ a: value }, () => spans.inject({})),
  ([value]) => loose('extract')({ traceparent: value, tracestate: value, baggage: value }),
  ([value]) => {
    (loose('startSpan')('x', {}, { parent: loose('extract')(value) }) as Span).end();
  },
];

/** Nothing that one of the calls has configured stays. */
const DEFAULTS = { sample: undefined, limits: undefined, redact: undefined } as never;

it('whatever is passed, the spans can be read', async () => {
  await fc.assert(
    fc.asyncProperty(
      chosenCalls(calls.length),
      fc.constantFrom('another span', 'throw', 'nothing'),
      async (chosen, mischief) => {
        let path = '';
        const misbehave = oneAtATime(() => {
          if (mischief === 'throw') throw new spans.TracewrightError('ERR_ORDER', 'inner', {});
          if (mischief === 'another span') spans.startSpan('inner', { z: [1, 2] }).end();
        });
        const found = await recorded(directory, (place) => {
          path = place;
          const span = spans.startSpan('outer');
          for (const [index, values] of chosen) {
            callHostile(() => {
              const result = calls[index]!(
                values.map((make) => make(misbehave)),
                span,
              );
              // Of an async function; its fault is the program's.
              if (result instanceof Promise) result.catch(() => undefined);
            });
          }
          callHostile(() => {
            spans.configure(DEFAULTS);
          });
          span.end();
          spans.startSpan('last', { n: 1 }, { parent: null }).end();
        });
        expect(
          findingsOf(path).filter((finding) => !/^no-events|converter|nesting/.test(finding)),
        ).toEqual([]);
        // Unless a call has switched the sampling off.
        if (found.length > 0) expect(found.every(({ spanId }) => spanId.length === 16)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

it('readSpans takes paths and options of the right type only', async () => {
  await recorded(directory, () => {
    spans.startSpan('x').end();
  });
  await fc.assert(
    fc.asyncProperty(hostileValue, hostileValue, async (makePaths, makeOptions) => {
      const paths = makePaths(() => undefined);
      const options = makeOptions(() => undefined);
      for (const [first, second] of [
        [paths, undefined],
        [directory, options],
        [[directory, paths], undefined],
        [directory, { maxPacketBytes: options }],
        [directory, { onProgress: options }],
      ]) {
        try {
          await allSpans(first as string, second as never);
        } catch (error) {
          callHostile(() => {
            throw error;
          });
        }
      }
    }),
    { numRuns: 60 },
  );
  for (const wrong of ['a\0b', '', 7, null, [null], [['x']], { length: 1, 0: 'x' }]) {
    expect(() => spans.readSpans(wrong as string)).toThrow(spans.TracewrightError);
  }
});
