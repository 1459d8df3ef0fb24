import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect } from 'vitest';
import { TracewrightError } from '../src/core/errors.js';

/**
 * Values that are not what they seem. Their getters and traps call `mischief`, which may call the
 * library again, or throw {@link OWN_ERROR}.
 */

/** What the program itself throws; it passes through. */
export const OWN_ERROR = new Error("the program's own");

type Mischief = () => void;
type Make = (mischief: Mischief) => unknown;

const typedArrays = [
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
  BigUint64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  BigInt64Array,
  Float32Array,
  Float64Array,
] as const;

/** Another value at each reading. */
function changing(values: readonly unknown[], mischief: Mischief): PropertyDescriptor {
  let reads = 0;
  return {
    configurable: true,
    enumerable: true,
    get: () => {
      mischief();
      return values[reads++ % values.length];
    },
  };
}

function withOwn(target: object, name: PropertyKey, value: unknown): object {
  return Object.defineProperty(target, name, { value, configurable: true });
}

function detached(array: ArrayBufferView<ArrayBuffer>): ArrayBufferView {
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

type Resizable = ArrayBuffer & { resize(bytes: number): void };
const ResizableBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => Resizable;

function resizable(bytes: number): Resizable {
  return new ResizableBuffer(bytes, { maxByteLength: 64 });
}

/** A typed array whose memory shrinks below it. */
function shrunk(): unknown {
  const buffer = resizable(32);
  const array = new Uint8Array(buffer, 16, 8);
  buffer.resize(4);
  return array;
}

/** An array that changes while it is read. */
function changingArray(mischief: Mischief): unknown[] {
  const array: unknown[] = [1, 2, 3, 4, 5, 6];
  Object.defineProperty(array, 1, {
    configurable: true,
    enumerable: true,
    get: () => {
      mischief();
      array.length = array.length > 3 ? 3 : 9;
      return 2;
    },
  });
  return array;
}

/** A typed array that is detached while the array before it is read. */
function detachingPair(): unknown {
  const bytes = new Uint8Array(16);
  const array: unknown[] = [1, 2];
  Object.defineProperty(array, 0, {
    get: () => {
      if (bytes.byteLength > 0) detached(bytes);
      return 1;
    },
  });
  return [array, bytes];
}

function proxyOf(target: object, length: unknown, mischief: Mischief): unknown {
  return new Proxy(target, {
    get: (from, name) => {
      mischief();
      return name === 'length' ? length : (Reflect.get(from, name) as unknown);
    },
  });
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const scalars: readonly unknown[] = [
  undefined,
  null,
  NaN,
  -0,
  0,
  1,
  -1,
  1.5,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -Infinity,
  '',
  'x',
  'MPI_Send',
  'OB.',
  '\0',
  '\ud800',
  '__proto__',
  'x'.repeat(70_000),
  0n,
  -1n,
  2n ** 64n,
  true,
  Symbol('x'),
  () => 1,
];

const makers: readonly Make[] = [
  ...scalars.map((value) => () => value),
  ...typedArrays.flatMap((Class): Make[] => [
    () => new Class(12),
    () => withOwn(new Class(4), 'length', 1),
    () => withOwn(new Class(2), 'length', 14),
    () => withOwn(new Class(3), 'length', 2 ** 30),
    () => detached(new Class(2)),
    () => new Class(new SharedArrayBuffer(16) as unknown as ArrayBuffer),
    () => new Class(resizable(16)),
    () => runInNewContext(`new ${Class.name}(5)`) as unknown,
    () => Object.setPrototypeOf(new Class(4), Uint8Array.prototype) as unknown,
    () => Object.setPrototypeOf(new Class(4), Int32Array.prototype) as unknown,
    () => Object.setPrototypeOf(new Class(4), null) as unknown,
    (mischief) => proxyOf(new Class(4), 4, mischief),
    () => Object.create(Class.prototype) as unknown,
  ]),
  shrunk,
  () => new DataView(new ArrayBuffer(8)),
  () => new ArrayBuffer(8),
  () => Buffer.from('text'),
  (mischief) => Object.defineProperty(new Uint8Array(4), 'length', changing([4, 400, 1], mischief)),
  () => withOwn(new Uint8Array(4), 'byteLength', 400),
  () => withOwn(new Uint8Array(4), 'buffer', new ArrayBuffer(400)),
  () => withOwn(new Uint8Array(4), 'constructor', { [Symbol.species]: Array }),
  () => withOwn([1, 2], 'constructor', { [Symbol.species]: Uint8Array }),
  () => withOwn([1, 2], Symbol.iterator, undefined),
  () => withOwn([1, 2], 'map', undefined),
  () => withOwn([1, 2], 'slice', () => [1n]),
  () => [1, 2, 3],
  () => Object.assign([], { 0: 1, 2: 3 }),
  () => [1, 'x', 2n, null, {}],
  () => ['a', 'b'],
  () => [-1n, 2n],
  () => new Array<unknown>(2 ** 20),
  () => runInNewContext('[1, 2, 3]') as unknown,
  changingArray,
  detachingPair,
  (mischief) => Object.defineProperty([1, 2, 3], 2, changing([3, 'x', 4n, {}], mischief)),
  (mischief) => proxyOf([1, 2, 3], 3, mischief),
  (mischief) => proxyOf([1, 2, 3], 2 ** 40, mischief),
  (mischief) => proxyOf([1, 2, 3], -1, mischief),
  (mischief) => proxyOf([1, 2, 3], 'many', mischief),
  (mischief) => proxyOf({}, 3, mischief),
  (mischief) => proxyOf(() => 1, 3, mischief),
  () => revoked([]),
  () => revoked({}),
  () => revoked(new Uint8Array(4)),
  () => ({}),
  () => ({ a: 1, b: 'x', c: [1, 2] }),
  () => new Map([['a', 1]]),
  () => new Date(NaN),
  () => withOwn(new Date(), 'getTime', () => 'x'),
  () => ({ length: 3, 0: 1, 1: 2, 2: 3 }),
  () => ({ toString: () => 'x', valueOf: () => 1, [Symbol.toPrimitive]: () => 1 }),
  (mischief) => Object.defineProperty({}, 'a', changing([1, 'x', [1]], mischief)),
  (mischief) => Object.defineProperty({ b: 1 }, 'then', changing([undefined, 1], mischief)),
  () =>
    Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw OWN_ERROR;
      },
    }),
];

/** A value to be made with what its getters shall do. */
export const hostileValue: fc.Arbitrary<Make> = fc.oneof(
  fc.constantFrom(...makers),
  // One within another.
  fc
    .tuple(fc.constantFrom(...makers), fc.constantFrom(...makers))
    .map(([first, second]): Make => (mischief) => [first(mischief), second(mischief)]),
);

/** Calls to be made: the index of each among `count`, and its arguments. */
export const chosenCalls = (count: number): fc.Arbitrary<[index: number, values: Make[]][]> =>
  fc.array(fc.tuple(fc.nat(count - 1), fc.array(hostileValue, { minLength: 1, maxLength: 4 })), {
    minLength: 1,
    maxLength: 12,
  });

/** What getters do, but not while one of them does it. */
export function oneAtATime(act: () => void): () => void {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    try {
      act();
    } finally {
      isBusy = false;
    }
  };
}

/** Calls a function of the library: it may throw a typed error, or the program's own. */
export function callHostile(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if (error === OWN_ERROR) return;
    // As getters that throw: nobody can look at a proxy that was revoked, nor at a prototype.
    if (error instanceof TypeError && /revoked|TypedArray.prototype/.test(error.message)) return;
    expect(error).toBeInstanceOf(TracewrightError);
    expect((error as TracewrightError).message).not.toBe('');
  }
}
