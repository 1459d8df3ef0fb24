import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import type { Attributes, Stream, Trace } from '../../../src/heph/index.js';
import { eventsOf, findingsOf } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
let files = 0;

/** Records events and returns each one's description and `name:type=value` of its attributes. */
async function recorded(write: (stream: Stream, trace: Trace) => void): Promise<string[]> {
  const path = join(directory, `${++files}.heph`);
  const trace = openTrace(path, { ringBytes: 65_536 });
  write(trace.stream(), trace);
  await trace.close();
  expect(findingsOf(path)).toEqual([]);
  return eventsOf(path).map(({ description, attributes }) =>
    [
      description,
      ...attributes.map(({ name, type, value }) => `${name}:${type}=${String(value)}`),
    ].join(' '),
  );
}

/** The first events of a kind take another path than later ones. */
const TIMES = 200;

async function repeated(attributes: unknown): Promise<string> {
  const events = await recorded((stream) => {
    for (let i = 0; i < TIMES; i++) {
      stream.finishTrace(stream.startTrace(), 'x', attributes as Attributes);
    }
  });
  expect(events).toHaveLength(TIMES);
  expect(new Set(events).size).toBe(1);
  return events[0]!;
}

describe('which properties of an object are attributes', () => {
  class WithFields {
    a = 1;
    #hidden = 2;
    get b(): number {
      return this.#hidden;
    }
    method(): void {
      // Not enumerable.
    }
  }
  it.each<[string, unknown, string]>([
    ['none', {}, 'x'],
    [
      'those without a prototype',
      Object.assign(Object.create(null) as object, { a: 1 }),
      'x a:u64=1',
    ],
    ['not inherited ones', Object.assign(Object.create({ b: 2 }) as object, { a: 1 }), 'x a:u64=1'],
    ['fields of a class', new WithFields(), 'x a:u64=1'],
    [
      'not those that are not enumerable',
      Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false }),
      'x a:u64=1',
    ],
    ['not symbols', { [Symbol('s')]: 1, a: 2 }, 'x a:u64=2'],
    ['integers first, in their order', { b: 1, 10: 2, 9: 3 }, 'x 9:u64=3 10:u64=2 b:u64=1'],
    ['toJSON is not called', { a: 1, toJSON: 'text' }, 'x a:u64=1 toJSON:string=text'],
    ['a name like that of a method', { hasOwnProperty: 1 }, 'x hasOwnProperty:u64=1'],
    ['__proto__', JSON.parse('{"__proto__":1,"a":2}'), 'x __proto__:u64=1 a:u64=2'],
    ['undefined is left out', { a: undefined, b: 1, c: undefined }, 'x b:u64=1'],
    [
      'of a proxy what its traps return',
      new Proxy({ a: 1, b: 2, c: 3 }, { get: (_, name) => `<${String(name)}>` }),
      'x a:string=<a> b:string=<b> c:string=<c>',
    ],
    [
      'of a proxy what it says to own',
      new Proxy(
        { a: 1 },
        {
          ownKeys: () => ['b', 'a'],
          getOwnPropertyDescriptor: (_, name) => ({
            value: 1,
            configurable: true,
            enumerable: name === 'b',
          }),
          get: () => 5,
        },
      ),
      'x b:u64=5',
    ],
  ])('%s', async (_, attributes, expected) => {
    expect(await repeated(attributes)).toBe(expected);
  });

  it('of two thousand all', async () => {
    const attributes = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`a${i}`, i]));
    expect((await repeated(attributes)).split(' ')).toHaveLength(2001);
  });

  it('not what a library added to Object.prototype', async () => {
    const prototype = Object.prototype as Record<string, unknown>;
    prototype['added'] = 1;
    try {
      expect(await repeated({ a: 1 })).toBe('x a:u64=1');
      expect(await repeated({})).toBe('x');
    } finally {
      delete prototype['added'];
    }
  });
});

it('wrong names and values are the same error every time, and use up no counter', async () => {
  const long = 'x'.repeat(65_536);
  const events = await recorded((stream) => {
    for (let i = 0; i < TIMES; i++) {
      for (const [attributes, field] of [
        [{ [long]: 1 }, 'attribute name'],
        [{ a: long }, 'a'],
        [{ a: 2n ** 64n }, 'a'],
        [{ a: -(2n ** 63n) - 1n }, 'a'],
        [{ a: null }, 'a'],
        [new Map(), 'attributes'],
      ] as const) {
        expect(() => {
          stream.finishTrace(stream.startTrace(), 'x', attributes as unknown as Attributes);
        }).toThrow(expect.objectContaining({ name: 'TracewrightError', field }));
      }
      stream.finishTrace(stream.startTrace(), 'x', { a: i });
    }
  });
  expect(events).toHaveLength(TIMES);
});

describe('getters', () => {
  it('are read once, in the order of the names', async () => {
    const reads: string[] = [];
    let count = 0;
    const attributes = {
      get a() {
        reads.push('a');
        return ++count;
      },
      get b() {
        reads.push('b');
        return count % 2 === 0 ? 'text' : -count;
      },
    };
    const events = await recorded((stream) => {
      for (let i = 0; i < 4; i++) stream.finishTrace(stream.startTrace(), 'x', attributes);
    });
    expect(events).toEqual([
      'x a:u64=1 b:i64=-1',
      'x a:u64=2 b:string=text',
      'x a:u64=3 b:i64=-3',
      'x a:u64=4 b:string=text',
    ]);
    expect(reads.join('')).toBe('abababab');
  });

  it('can record events of their own', async () => {
    const events = await recorded((stream) => {
      for (let i = 0; i < TIMES; i++) {
        stream.finishTrace(stream.startTrace(), 'outer', {
          a: 'first',
          get b() {
            const timing = stream.startTrace();
            stream.finishTrace(timing, 'inner', { z: 1, y: 'two', x: -3 });
            return 'second';
          },
          c: 3,
        });
      }
    });
    expect(events).toEqual(
      Array.from({ length: TIMES }, () => [
        'inner z:u64=1 y:string=two x:i64=-3',
        'outer a:string=first b:string=second c:u64=3',
      ]).flat(),
    );
  });

  it('can delete a later property, and add one', async () => {
    const events = await recorded((stream) => {
      for (let i = 0; i < TIMES; i++) {
        const attributes: Record<string, unknown> = {
          get a() {
            delete attributes['b'];
            attributes['d'] = 4;
            return 1;
          },
          b: 2,
          c: 3,
        };
        stream.finishTrace(stream.startTrace(), 'x', attributes as Attributes);
      }
    });
    expect(new Set(events)).toEqual(new Set(['x a:u64=1 c:u64=3']));
  });

  it('that throw lose that event only, without a counter', async () => {
    const events = await recorded((stream) => {
      for (let i = 0; i < TIMES; i++) {
        const attributes = {
          a: 'text',
          get b(): number {
            throw new Error('getter');
          },
        };
        expect(() => {
          stream.finishTrace(stream.startTrace(), 'x', attributes);
        }).toThrow('getter');
        stream.finishTrace(stream.startTrace(), 'y', { a: i });
      }
    });
    expect(events).toEqual(Array.from({ length: TIMES }, (_, i) => `y a:u64=${i}`));
  });

  it('can close the trace', async () => {
    const path = join(directory, 'closed.heph');
    const trace = openTrace(path, { ringBytes: 65_536 });
    const stream = trace.stream();
    stream.finishTrace(stream.startTrace(), 'x', { a: 1 });
    let closed: Promise<void> | undefined;
    expect(() => {
      stream.finishTrace(stream.startTrace(), 'x', {
        get a() {
          closed = trace.close();
          return 1;
        },
      });
    }).not.toThrow();
    await closed;
    expect(() => {
      stream.finishTrace(0 as never, 'x', { a: 1 });
    }).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
    expect(eventsOf(path)).toHaveLength(2);
  });
});

it('an object whose values change their types, and whose names change their order', async () => {
  const values = [1, 'text', 1.5, -3, true, 2 ** 40, 2n ** 63n, -(2n ** 63n), undefined, [1, 2]];
  const types = ['u64', 'string', 'f64', 'i64', 'u64', 'u64', 'u64', 'i64', '', 'u64[]'];
  // Enough for each description and order to be compiled.
  const ROUNDS = 80;
  const events = await recorded((stream) => {
    for (let i = 0; i < ROUNDS * values.length; i++) {
      const value = values[i % values.length];
      const attributes = i % 3 === 0 ? { a: value, b: 'b' } : { b: 'b', a: value };
      stream.finishTrace(stream.startTrace(), `x${i % 4}`, attributes);
    }
  });
  expect(events).toEqual(
    Array.from({ length: ROUNDS * values.length }, (_, i) => {
      const value = values[i % values.length];
      const shown = value === true ? '1' : String(value);
      const a = value === undefined ? '' : ` a:${types[i % types.length]!}=${shown}`;
      return `x${i % 4}${i % 3 === 0 ? `${a} b:string=b` : ` b:string=b${a}`}`;
    }),
  );
});
