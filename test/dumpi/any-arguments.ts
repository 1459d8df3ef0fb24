import fc from 'fast-check';
import type { Call, Field, FieldEncoding, Status } from '../../src/dumpi/calls.js';

/** Random legal arguments for any call of the table, with values at the edges of every type. */

function integer(low: number, high: number): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: low, max: high }), fc.constantFrom(low, 0, 1, high));
}

const i8 = integer(-0x80, 0x7f);
const i32 = integer(-0x8000_0000, 0x7fff_ffff);
export const i64 = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.constantFrom(-(2n ** 63n), -1n, 0n, 2n ** 53n, 2n ** 63n - 1n),
);
/** Whole code points without NUL, so that encoding and decoding give the same string. */
export const anyText = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map((text) => text.replaceAll('\0', ' '));

export const anyStatus: fc.Arbitrary<Status> = fc.record({
  bytes: i32,
  source: i32,
  tag: i32,
  cancelled: i8,
  error: i8,
});

const elements: Readonly<Record<FieldEncoding, fc.Arbitrary<unknown>>> = {
  i8,
  u8: integer(0, 0xff),
  i16: integer(-0x8000, 0x7fff),
  i32,
  i64,
  u64: fc.oneof(
    fc.bigInt(0n, 2n ** 64n - 1n),
    fc.constantFrom(0n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n),
  ),
  chars: anyText,
  status: anyStatus,
};

/** Lengths of arrays: mostly short, now and then longer than a stack of small ones. */
const length = fc.oneof({ weight: 5, arbitrary: fc.nat(4) }, fc.constantFrom(64, 300));

function arrayOf(element: fc.Arbitrary<unknown>, count: number): fc.Arbitrary<unknown[]> {
  return fc.array(element, { minLength: count, maxLength: count });
}

function valueOf(field: Field, counts: ReadonlyMap<string, number>): fc.Arbitrary<unknown> {
  const { encoding, dimensions, count, inner } = field;
  const element = elements[encoding];
  if (dimensions === 0) {
    return encoding === 'status' ? fc.option(element, { freq: 4 }) : element;
  }
  const elementCount = count === undefined ? length : fc.constant(counts.get(count)!);
  return elementCount.chain((n) => {
    if (dimensions === 1) {
      // Statuses may be ignored, whatever the count says.
      const ignored =
        encoding === 'status' ? fc.option(arrayOf(element, n), { freq: 4 }) : undefined;
      return ignored?.map((statuses) => statuses ?? []) ?? arrayOf(element, n);
    }
    const row = inner === undefined ? fc.array(element, { maxLength: 3 }) : arrayOf(element, inner);
    return arrayOf(row, n);
  });
}

/** Arguments of a call whose arrays are as long as their counts say; the fields of the root where they belong. */
export function anyArguments(call: Call): fc.Arbitrary<Record<string, unknown>> {
  const countFields = new Set(
    call.fields.map(({ count }) => count).filter((count) => count !== undefined),
  );
  return fc
    .tuple(
      fc.boolean(),
      fc.record(Object.fromEntries([...countFields].map((name) => [name, length]))),
    )
    .chain(([root, sizes]) => {
      const counts = new Map(Object.entries(sizes));
      const present = call.fields.filter(({ rootOnly }) => root || !rootOnly);
      return fc
        .record(Object.fromEntries(present.map((field) => [field.name, valueOf(field, counts)])))
        .map((values) => withCounts(call, values, counts, root));
    });
}

function withCounts(
  call: Call,
  values: Record<string, unknown>,
  counts: ReadonlyMap<string, number>,
  root: boolean,
): Record<string, unknown> {
  for (const name of counts.keys()) if (name in values) values[name] = counts.get(name);
  for (const { name, count, dimensions } of call.fields) {
    // The length of a string is that of its bytes.
    if (count === undefined || dimensions !== 0) continue;
    values[count] = Buffer.byteLength(values[name] as string);
  }
  if (call.rankField !== undefined) {
    const rank = values[call.rankField] as number;
    values['root'] = root ? rank : rank === 0 ? 1 : 0;
  }
  return values;
}
