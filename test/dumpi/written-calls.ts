import fc from 'fast-check';
import { calls } from '../../src/dumpi/calls.js';
import type { Call, Field, FieldEncoding } from '../../src/dumpi/calls.js';
import type { MpiCallName } from '../../src/dumpi/write/configuration.js';

/** A call with legal arguments of any kind that a writer takes. */
export interface WrittenCall {
  name: MpiCallName;
  args: Record<string, unknown>;
}

const RANGES = {
  i8: [-128, 127],
  u8: [0, 255],
  i16: [-32_768, 32_767],
  i32: [-(2 ** 31), 2 ** 31 - 1],
} as const;

const integer = (low: number, high: number): fc.Arbitrary<number> =>
  fc.oneof(fc.constantFrom(low, high, 0), fc.integer({ min: low, max: high }));

const text = fc
  .oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constant(''))
  .map((each) => each.replaceAll('\0', ''));

const status = fc.record({
  bytes: integer(...RANGES.i32),
  source: integer(...RANGES.i32),
  tag: integer(...RANGES.i32),
  cancelled: integer(...RANGES.i8),
  error: integer(...RANGES.i8),
});

/** Calls of MPI have no addresses of functions. */
function encodingOf({ encoding }: Field): Exclude<FieldEncoding, 'u64'> {
  if (encoding === 'u64') throw new Error('an address in a call of MPI');
  return encoding;
}

function one(encoding: Exclude<FieldEncoding, 'u64'>): fc.Arbitrary<unknown> {
  switch (encoding) {
    case 'i64':
      return fc.oneof(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2 ** 53 - 1, -(2 ** 53 - 1), -1, 0),
      );
    case 'chars':
      return text;
    case 'status':
      return status;
    default:
      return integer(RANGES[encoding][0], RANGES[encoding][1]);
  }
}

const LONGEST = 9;

function array(field: Field): fc.Arbitrary<unknown[] | null> {
  const length = { maxLength: LONGEST };
  const elements =
    field.dimensions === 2
      ? fc.array(
          field.inner === undefined
            ? fc.array(one(encodingOf(field)), length)
            : fc.array(one(encodingOf(field)), { minLength: field.inner, maxLength: field.inner }),
          length,
        )
      : fc.array(one(encodingOf(field)), length);
  return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 6, arbitrary: elements });
}

/** Arguments of a call; the counts are what its arrays have, and sometimes its rank is the root. */
export function argumentsOf(call: Call): fc.Arbitrary<Record<string, unknown>> {
  const values: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of call.fields) {
    values[field.name] =
      field.dimensions > 0
        ? array(field)
        : field.encoding === 'status'
          ? fc.option(status)
          : one(encodingOf(field));
  }
  return fc.tuple(fc.record(values), fc.boolean()).map(([args, isRoot]) => {
    if (call.rankField !== undefined && isRoot) args['root'] = args[call.rankField];
    const root = call.rankField !== undefined && args['root'] === args[call.rankField];
    const counts = new Map<string, number>();
    for (const { name, count, dimensions, rootOnly } of call.fields) {
      if (rootOnly && !root) {
        Reflect.deleteProperty(args, name);
        continue;
      }
      if (count === undefined) continue;
      const value = args[name] as ArrayLike<unknown> | string | null;
      const length =
        value === null ? 0 : dimensions === 0 ? Buffer.byteLength(value as string) : value.length;
      const known = counts.get(count);
      if (known === undefined || known === 0) {
        counts.set(count, length);
      } else if (dimensions > 0 && length !== known) {
        // Two arrays of one count: the second is as long as the first, or empty.
        const elements = (value ?? []) as ArrayLike<unknown>;
        args[name] =
          length === 0 ? null : Array.from({ length: known }, (_, i) => elements[i % length]);
      }
    }
    for (const [count, length] of counts) {
      // Nothing at all may also be said by a count below 0 (MPI_UNDEFINED).
      args[count] = length === 0 && args[count] === -(2 ** 31) ? -1 : length;
    }
    return args;
  });
}

/** Calls of MPI that leave a record. */
export const mpiCalls = calls.filter(({ name }) => !name.startsWith('Function_'));

/** One call of any name. */
export const anyWrittenCall: fc.Arbitrary<WrittenCall> = fc
  .constantFrom(...mpiCalls)
  .chain((call) => argumentsOf(call).map((args) => ({ name: call.name as MpiCallName, args })));

/** What a reader gives for arguments: null arrays are empty, integers of 64 bits are bigints. */
export function asRead(
  call: Call,
  args: Record<string, unknown>,
  statuses = true,
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const { name, dimensions, encoding } of call.fields) {
    if (!(name in args)) continue;
    const value = args[name];
    if (dimensions > 0) {
      read[name] =
        value === null || (encoding === 'status' && !statuses)
          ? []
          : Array.from(value as ArrayLike<unknown>);
    } else if (encoding === 'i64') {
      read[name] = BigInt(value as number | bigint);
    } else {
      read[name] = encoding === 'status' && !statuses ? null : value;
    }
  }
  return read;
}
