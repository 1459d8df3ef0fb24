import { firstOutside } from '../core/native-calls.js';
import { outOfRange, wrongType } from '../core/errors.js';
import { checkInt64 } from '../core/int64.js';
import { checkWord } from './hexadecimal.js';
import { FIRST_TYPE, LAST_TYPE, RECORD_BYTES, TYPE_OFFSET } from './layout.js';

/** A checked type as its byte. */
export function typeByte(type: unknown): number {
  const limit = 'one printable ASCII character other than a space';
  if (typeof type !== 'string') throw wrongType('type', type, limit);
  const code = type.charCodeAt(0);
  if (type.length !== 1 || !isType(code)) throw outOfRange('type', type, limit);
  return code;
}

/** Whether a byte can be the type of a reference. */
export function isType(code: number): boolean {
  return code >= FIRST_TYPE && code <= LAST_TYPE;
}

/** The first record of a chunk with an invalid type; `count` if all are valid. */
export function firstWrongType(records: Uint8Array, from: number, count: number): number {
  return firstOutside(records, from + TYPE_OFFSET, RECORD_BYTES, count, FIRST_TYPE, LAST_TYPE);
}

/** Checks the values of one reference. Without a timestamp it gets one from the clock. */
export function checkReference(
  timestamp: unknown,
  length: unknown,
  space: unknown,
  address: unknown,
): void {
  if (timestamp !== undefined) checkInt64('timestamp', timestamp, 'u64');
  checkWord('length', length, 0xff);
  checkWord('space', space, 0xffff_ffff);
  checkWord('address', address, 0xffff_ffff);
}
