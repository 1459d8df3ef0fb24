import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { core } from '../../src/core/addon.js';
import type { NativeColumn } from '../../src/core/native-core.js';

const MOST = 400;
const anything = (value: unknown): never => value as never;

/** A field of a record, its column and what the column says. */
interface Case {
  bytes: number;
  column: NativeColumn;
  values: bigint[];
}

function unsigned(bits: number): fc.Arbitrary<bigint> {
  return fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
}

/** `count` values, or one for all. */
function values(count: number, bits: number): fc.Arbitrary<bigint[]> {
  const value = unsigned(bits);
  return fc.oneof(
    fc.array(value, { minLength: count, maxLength: count, size: 'max' }),
    value.map((one) => [one]),
  );
}

function field(count: number): fc.Arbitrary<Case> {
  const of = (bytes: number, bits: number, make: (all: bigint[]) => NativeColumn) =>
    values(count, bits).map((all) => ({ bytes, column: make(all), values: all }));
  return fc.oneof(
    of(1, 8, (all) => Uint8Array.from(all, Number)),
    of(2, 16, (all) => Uint16Array.from(all, Number)),
    of(4, 32, (all) => Uint32Array.from(all, Number)),
    of(8, 64, (all) => BigUint64Array.from(all)),
    of(8, 53, (all) => Float64Array.from(all, Number)),
    of(8, 32, (all) => Uint32Array.from(all, Number)),
  );
}

/** Where the fields of a record lie, with gaps between them. */
function layoutOf(
  cases: Case[],
  gaps: number[],
  big: boolean,
): { layout: Uint8Array; at: number[] } {
  let end = 0;
  const at = cases.map(({ bytes }, i) => {
    const start = end + gaps[i]!;
    end = start + bytes;
    return start;
  });
  const fields = cases.flatMap(({ bytes }, i) => [at[i]!, bytes]);
  return { layout: Uint8Array.of(end + 1, big ? 1 : 0, ...fields), at };
}

describe('packRecords', () => {
  it('puts each value where the layout says, and nothing beside it', () => {
    const batch = fc.integer({ min: 0, max: MOST }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        first: fc.integer({ min: 0, max: count }),
        cases: fc.array(field(count), { minLength: 1, maxLength: 8 }),
        gaps: fc.array(fc.nat(3), { minLength: 8, maxLength: 8 }),
        big: fc.boolean(),
        before: fc.nat(70),
      }),
    );
    fc.assert(
      fc.property(batch, ({ count, first, cases, gaps, big, before }) => {
        const { layout, at } = layoutOf(cases, gaps, big);
        const size = layout[0]!;
        const packed = count - first;
        const expected = Buffer.alloc(before + packed * size + 70, 0xee);
        const got = Buffer.from(expected);
        for (let i = 0; i < packed; i++) {
          cases.forEach(({ bytes, values: all }, c) => {
            const digits = all[all.length === 1 ? 0 : first + i]!.toString(16);
            const field = Buffer.from(digits.padStart(2 * bytes, '0'), 'hex');
            expected.set(big ? field : field.reverse(), before + i * size + at[c]!);
          });
        }
        const columns = cases.map(({ column }) => column);
        expect(core.packRecords(layout, got, before, first, packed, ...columns)).toBe(true);
        expect(got.equals(expected)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  const layout = Uint8Array.of(5, 0, 0, 1, 1, 4);
  const bytes = new Uint8Array(4);
  const words = new Uint32Array(4);
  const short = new Uint32Array(4);
  Object.defineProperty(short, 'length', { value: 100 });
  const detached = new Uint32Array(4);
  const gone = new Uint8Array(20);
  structuredClone(null, { transfer: [detached.buffer, gone.buffer] });

  it.each([
    ['one more than there is room for', [layout, new Uint8Array(19), 0, 0, 4, bytes, words]],
    ['a place behind the end', [layout, new Uint8Array(20), 21, 0, 0, bytes, words]],
    ['a place that is none', [layout, new Uint8Array(20), 0, NaN, 5, bytes, words]],
    ['more than the columns have', [layout, new Uint8Array(100), 0, 1, 4, bytes, words]],
    ['a column that claims to be longer', [layout, new Uint8Array(999), 0, 0, 90, bytes, short]],
    ['a detached column', [layout, new Uint8Array(20), 0, 0, 4, bytes, detached]],
    ['a detached target', [layout, gone, 0, 0, 4, bytes, words]],
    ['a column of another size', [layout, new Uint8Array(20), 0, 0, 4, words, words]],
    ['signed numbers', [layout, new Uint8Array(20), 0, 0, 4, new Int8Array(4), words]],
    [
      'no array',
      [layout, new Uint8Array(20), 0, 0, 4, bytes, Object.create(Uint32Array.prototype)],
    ],
    ['a DataView', [layout, new Uint8Array(20), 0, 0, 4, new DataView(words.buffer), words]],
    ['a column too few', [layout, new Uint8Array(20), 0, 0, 4, bytes]],
    ['a column too many', [layout, new Uint8Array(20), 0, 0, 4, bytes, words, words]],
    ['a field behind the record', [Uint8Array.of(4, 0, 1, 4), new Uint8Array(20), 0, 0, 4, words]],
    ['records of nothing', [Uint8Array.of(0, 0), new Uint8Array(20), 0, 0, 4]],
    ['half a layout', [Uint8Array.of(4, 0, 0), new Uint8Array(20), 0, 0, 4, words]],
    ['nothing at all', []],
  ])('refuses %s', (_, given) => {
    const target = given[1] as Uint8Array | undefined;
    expect(core.packRecords(...(anything(given) as Parameters<typeof core.packRecords>))).toBe(
      false,
    );
    if (target !== gone) expect(target?.some((byte) => byte !== 0) ?? false).toBe(false);
  });

  it('takes shared memory, and arrays that begin in the middle of theirs', () => {
    const shared = new Uint32Array(new SharedArrayBuffer(24), 8, 4).fill(0x01020304);
    const middle = new Uint8Array(9).fill(7).subarray(5);
    const to = new Uint8Array(new SharedArrayBuffer(20));
    expect(core.packRecords(layout, to, 0, 0, 4, middle, shared)).toBe(true);
    expect([...to.slice(15)]).toEqual([7, 4, 3, 2, 1]);
  });
});

describe('copyRecords', () => {
  it('copies what it is told and nothing else', () => {
    const size = fc.nat(300);
    fc.assert(
      fc.property(size, size, size, size, fc.boolean(), (count, start, at, rest, shared) => {
        const length = start + 18 * count + rest;
        const from = shared ? Buffer.from(new SharedArrayBuffer(length)) : Buffer.alloc(length);
        for (let i = 0; i < length; i++) from[i] = i % 127;
        const to = Buffer.alloc(at + 18 * count + rest, 0xee);
        const expected = Buffer.from(to);
        from.copy(expected, at, start, start + 18 * count);
        expect(core.copyRecords(to, at, from, start, 18, count, 0, 126)).toBe(count);
        expect(to.equals(expected)).toBe(true);
        const more = count + Math.floor(rest / 18) + 1;
        expect(core.copyRecords(to, at, from, start, 18, more, 0, 126)).toBe(0);
        expect(to.equals(expected)).toBe(true);
        if (count === 0) return;
        const wrong = rest % count;
        from[start + 18 * wrong] = 200;
        expect(core.copyRecords(to, at, from, start, 18, count, 0, 126)).toBe(wrong);
      }),
    );
  });

  it('refuses what is no array of bytes', () => {
    const words = anything(new Uint32Array(2));
    expect(core.copyRecords(new Uint8Array(8), 0, words, 0, 1, 1, 0, 255)).toBe(0);
    expect(core.copyRecords(anything(undefined), 0, new Uint8Array(8), 0, 1, 1, 0, 255)).toBe(0);
    expect(core.copyRecords(new Uint8Array(8), 0, new Uint8Array(8), 0, 0, 1, 0, 255)).toBe(0);
  });
});

describe('firstOutside', () => {
  it.each([1, 18])('finds a byte wherever it stands, %i apart', (stride) => {
    const count = 1100;
    const bytes = new Uint8Array(3 + count * stride);
    for (let i = 0; i < count; i++) bytes[3 + i * stride] = i % 2 === 0 ? 0x21 : 0x7e;
    expect(core.firstOutside(bytes, 3, stride, count, 0x21, 0x7e)).toBe(count);
    for (const wrong of [0x20, 0x7f, 0, 255]) {
      for (const where of [0, 1, 15, 511, 512, 513, 1023, 1024, 1099]) {
        const [before, later] = [bytes[3 + where * stride]!, bytes[3 + 1099 * stride]!];
        bytes[3 + 1099 * stride] = wrong;
        bytes[3 + where * stride] = wrong;
        expect(core.firstOutside(bytes, 3, stride, count, 0x21, 0x7e)).toBe(where);
        bytes[3 + where * stride] = before;
        bytes[3 + 1099 * stride] = where === 1099 ? before : later;
      }
    }
  });

  it('takes no byte for good that is not there', () => {
    expect(core.firstOutside(new Uint8Array(10), 0, 1, 11, 0, 255)).toBe(0);
    expect(core.firstOutside(new Uint8Array(10), 11, 1, 1, 0, 255)).toBe(0);
    expect(core.firstOutside(anything([1]), 0, 1, 1, 0, 255)).toBe(0);
  });
});

describe('firstInexact', () => {
  it('finds what is no integer up to 2^53 - 1', () => {
    const good = new Float64Array(1100).map((_, i) => (i % 3 === 0 && i > 512 ? 2 ** 53 - 1 : i));
    good[1] = -0;
    expect(core.firstInexact(good)).toBe(1100);
    for (const wrong of [
      -1,
      0.5,
      NaN,
      Infinity,
      -Infinity,
      2 ** 53,
      2 ** 64,
      2 ** 52 - 0.5,
      -(2 ** 60),
      1e-300,
    ]) {
      for (const where of [0, 511, 512, 1099]) {
        const values = good.slice();
        values[1099] = wrong;
        values[where] = wrong;
        expect(core.firstInexact(values)).toBe(where);
      }
    }
    expect(core.firstInexact(new Float64Array(0))).toBe(0);
  });
});
