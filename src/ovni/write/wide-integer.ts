import { outOfRange, wrongType } from '../../core/errors.js';
import { LITTLE } from './stream-writer.js';

const RANGES = {
  u64: { low: 0n, high: 0xffff_ffff_ffff_ffffn, limit: 'an integer from 0 to 2^64 - 1' },
  i64: {
    low: -0x8000_0000_0000_0000n,
    high: 0x7fff_ffff_ffff_ffffn,
    limit: 'an integer from -2^63 to 2^63 - 1',
  },
} as const;

/**
 * Checks a 64-bit argument. Numbers must be safe integers, because others no longer say which
 * integer is meant; bigints have the whole range.
 */
export function checkWide(field: string, value: unknown, type: 'u64' | 'i64'): void {
  const { low, high, limit } = RANGES[type];
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || (type === 'u64' && value < 0)) {
      throw outOfRange(field, value, `${limit}; a bigint beyond 2^53`);
    }
  } else if (typeof value === 'bigint') {
    if (value < low || value > high) throw outOfRange(field, value, limit);
  } else {
    throw wrongType(field, value, `${limit}, as a number or a bigint`);
  }
}

/** Writes a checked 64-bit argument in the machine's byte order. */
export function writeWide(view: DataView, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    view.setBigInt64(at, BigInt.asIntN(64, value), LITTLE);
    return;
  }
  const high = Math.floor(value / 0x1_0000_0000);
  view.setUint32(at + (LITTLE ? 0 : 4), value - high * 0x1_0000_0000, LITTLE);
  view.setInt32(at + (LITTLE ? 4 : 0), high, LITTLE);
}
