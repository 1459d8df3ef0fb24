import { outOfRange, wrongType } from './errors.js';

const PER_TWO_32 = 2 ** -32;

/**
 * A bigint is stored here and read as its halves: V8 compiles a store to such an array without a
 * call, `setBigInt64` only since Node 22. Nothing is kept here.
 */
export const bigintStore = new BigInt64Array(1);
export const bigintHalves = new Uint32Array(bigintStore.buffer);
/** Which of the halves is the high one. */
export const HIGH_HALF = new Uint8Array(Uint16Array.of(1).buffer)[0]!;

const RANGES = {
  u64: {
    low: 0n,
    high: 0xffff_ffff_ffff_ffffn,
    limit: 'an integer from 0 to 2^64 - 1 (a bigint beyond 2^53)',
  },
  i64: {
    low: -0x8000_0000_0000_0000n,
    high: 0x7fff_ffff_ffff_ffffn,
    limit: 'an integer from -2^63 to 2^63 - 1 (a bigint beyond 2^53)',
  },
} as const;

/**
 * Checks a 64-bit argument. A number must be a safe integer: beyond 2^53 it no longer says which
 * integer is meant. A bigint has the whole range.
 *
 * @throws TracewrightError that names the field, the value and the range.
 */
export function checkInt64(field: string, value: unknown, type: 'u64' | 'i64'): void {
  const { low, high, limit } = RANGES[type];
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || (type === 'u64' && value < 0)) {
      throw outOfRange(field, value, limit);
    }
  } else if (typeof value === 'bigint') {
    if (value < low || value > high) throw outOfRange(field, value, limit);
  } else {
    throw wrongType(field, value, limit);
  }
}

/** Stores a checked 64-bit integer, signed or not; big-endian by default. */
export function storeInt64(
  view: DataView,
  at: number,
  value: number | bigint,
  littleEndian = false,
): void {
  const highAt = at + (littleEndian ? 4 : 0);
  const lowAt = at + (littleEndian ? 0 : 4);
  if (typeof value === 'bigint') {
    bigintStore[0] = value;
    view.setUint32(highAt, bigintHalves[HIGH_HALF]!, littleEndian);
    view.setUint32(lowAt, bigintHalves[1 - HIGH_HALF]!, littleEndian);
    return;
  }
  if ((value | 0) === value) view.setInt32(highAt, value >> 31, littleEndian);
  else view.setInt32(highAt, Math.floor(value * PER_TWO_32), littleEndian);
  // Stored modulo 2^32, which is the low half of negative numbers too.
  view.setUint32(lowAt, value, littleEndian);
}
