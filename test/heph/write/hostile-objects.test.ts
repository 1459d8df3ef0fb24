import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { f64, i64, openTrace, u64 } from '../../../src/heph/index.js';
import type { Attributes, Stream, Timing, Trace } from '../../../src/heph/index.js';
import { callHostile, chosenCalls, oneAtATime } from '../../hostile-values.js';
import { eventsOf, findingsOf } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
let files = 0;

type Loose = (...values: unknown[]) => unknown;

/** Calls of the trace with what comes. */
type Call = (target: { trace: Trace; stream: Stream }, values: readonly unknown[]) => unknown;

const TYPES = ['u64', 'i64', 'f64', 'string'] as const;

const calls: readonly Call[] = [
  ({ stream }, [value]) => {
    stream.finishTrace(stream.startTrace(), 'x', { a: value, b: 1 } as Attributes);
  },
  ({ stream }, [value]) => {
    stream.finishTrace(stream.startTrace(), 'x', value as Attributes);
  },
  ({ stream }, [first, second]) => {
    const values = { a: 1, b: first, c: second, d: 'end' } as Attributes;
    stream.finishTrace(stream.startTrace(), 'x', values);
  },
  ({ stream }, values) => (stream.finishTrace as Loose).apply(stream, [...values]),
  ({ stream }, values) =>
    (stream.finishTrace as Loose).call(stream, stream.startTrace(), ...values),
  ...TYPES.flatMap((type): Call[] => [
    ({ stream }, [first, second]) => {
      const span = stream.span('s', { a: type, b: `${type}[]`, c: 'u64' });
      (span.finish as Loose)(stream.startTrace(), first, second, 1);
      (span.finishIn as Loose)(2, stream.startTrace(), first, second, 1);
    },
    ({ stream }, [first, second]) => {
      const span = stream.span('s', { a: `${type}[]`, b: `${type}[]` });
      (span.finish as Loose)(stream.startTrace(), first, second);
    },
  ]),
  ({ stream }, [schema]) => (stream.span as Loose).call(stream, 's', schema),
  ...[u64, i64, f64].map((typed): Call => ({ stream }, [value]) => {
    stream.finishTrace(stream.startTrace(), 'x', { a: (typed as Loose)(value) } as Attributes);
  }),
  ({ stream }, [value]) => {
    const like = Object.create(Object.getPrototypeOf(u64(1)) as object, {
      type: { value: 'u64[]' },
      value: { value },
    }) as unknown;
    stream.finishTrace(stream.startTrace(), 'x', { a: like } as Attributes);
  },
  ({ trace }, [id]) => (trace.stream as Loose).call(trace, id),
];

/** What the check finds, whether or not there are events. */
function faultsOf(path: string): string[] {
  return findingsOf(path).filter((finding) => !finding.startsWith('no-events'));
}

it('whatever is passed, the trace can be read', async () => {
  await fc.assert(
    fc.asyncProperty(
      chosenCalls(calls.length),
      fc.constantFrom('another event', 'close', 'throw', 'nothing'),
      async (chosen, mischief) => {
        const path = join(directory, `${++files}.heph`);
        const trace = openTrace(path, { ringBytes: 65_536 });
        const stream = trace.stream(1);
        const misbehave = oneAtATime(() => {
          if (mischief === 'close') void trace.close();
          if (mischief === 'throw') stream.finishTrace('never' as never, 'inner');
          if (mischief !== 'another event') return;
          stream.finishTrace(stream.startTrace(), 'inner', { z: 'z'.repeat(40), y: [1, 2] });
          stream.span('inner', { a: 'f64[]' }).finish(stream.startTrace(), [1, 2]);
        });
        for (const [index, values] of chosen) {
          callHostile(() =>
            calls[index]!(
              { trace, stream },
              values.map((make) => make(misbehave)),
            ),
          );
        }
        callHostile(() => {
          stream.finishTrace(stream.startTrace(), 'last');
        });
        await trace.close();
        expect(faultsOf(path)).toEqual([]);
        if (mischief !== 'close') expect(eventsOf(path).at(-1)?.description).toBe('last');
      },
    ),
    { numRuns: 50 },
  );
});

describe('arrays', () => {
  async function recorded(write: (stream: Stream) => void): Promise<string[]> {
    const path = join(directory, `${++files}.heph`);
    const trace = openTrace(path, { ringBytes: 65_536 });
    write(trace.stream(1));
    await trace.close();
    expect(faultsOf(path)).toEqual([]);
    return eventsOf(path).map(({ description, attributes, start, end }) => {
      expect(end).toBeGreaterThanOrEqual(start);
      return [
        description,
        ...attributes.map(({ name, type, value }) => `${name}:${type}=${String(value)}`),
      ].join(' ');
    });
  }

  /** Its second element is read once only, and reading it records an event and empties the array. */
  function hostile(stream: Stream): unknown[] {
    const array: unknown[] = [1, 2, 3];
    let reads = 0;
    return Object.defineProperty(array, 1, {
      get: () => {
        stream.finishTrace(stream.startTrace(), 'inner', { z: 'z' });
        array.length = 2;
        return reads++ === 0 ? 2 : 'again';
      },
    });
  }

  it('are read once, before anything is written', async () => {
    const events = await recorded((stream) => {
      const span = stream.span('span', { a: 'u64[]' });
      for (const finish of [
        (timing: Timing | undefined, a: unknown) => {
          stream.finishTrace(timing, 'finishTrace', { a } as Attributes);
        },
        (timing: Timing | undefined, a: unknown) => {
          span.finish(timing, a as number[]);
        },
      ]) {
        expect(() => {
          finish(stream.startTrace(), hostile(stream));
        }).toThrow(expect.objectContaining({ name: 'TracewrightError' }));
        // The length is that of the beginning; a proxy says the same at each reading.
        const array = hostile(stream);
        finish(
          stream.startTrace(),
          new Proxy(array, {
            get: (from, name) => (name === 'length' ? 2 : (Reflect.get(from, name) as unknown)),
          }),
        );
      }
    });
    expect(events).toEqual([
      'inner z:string=z',
      'inner z:string=z',
      'finishTrace a:u64[]=1,2',
      'inner z:string=z',
      'inner z:string=z',
      'span a:u64[]=1,2',
    ]);
  });

  it('of a detached or vanished buffer are an error, in whatever they are wrapped', async () => {
    const detached = new Float64Array(2);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const events = await recorded((stream) => {
      for (const attributes of [{ a: detached }, { b: 1, a: detached }]) {
        expect(() => {
          stream.finishTrace(stream.startTrace(), 'x', attributes);
        }).toThrow(expect.objectContaining({ name: 'TracewrightError', field: 'a' }));
      }
      expect(() => {
        stream.span('x', { a: 'f64[]' }).finish(stream.startTrace(), detached);
      }).toThrow(expect.objectContaining({ name: 'TracewrightError', field: 'a' }));
    });
    expect(events).toEqual([]);
  });

  it('have the length that they have, not one that somebody put in front', async () => {
    const short = Object.defineProperty(new Uint8Array([1, 2, 3]), 'length', { value: 1 });
    const long = Object.defineProperty(new Uint8Array([1, 2, 3]), 'length', { value: 60_000 });
    const events = await recorded((stream) => {
      const span = stream.span('span', { a: 'u64[]' });
      for (const a of [short, long]) {
        stream.finishTrace(stream.startTrace(), 'x', { a });
        span.finish(stream.startTrace(), a);
      }
    });
    expect(new Set(events)).toEqual(new Set(['x a:u64[]=1,2,3', 'span a:u64[]=1,2,3']));
  });
});
