import { outOfRange, wrongType } from './errors.js';
import {
  bufferOf,
  byteLengthOf,
  byteOffsetOf,
  classNameOf,
  isDetached,
  lengthOf,
} from './typed-array.js';

/** `Array.isArray` throws for a proxy that was revoked. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * The elements of an array or typed array, each read once: their getters run here and never again, and
 * nobody else can change the copy.
 *
 * @param most elements.
 * @param limit what the value may be, for the error.
 * @throws TracewrightError for what is no array, for a longer one, and for a typed array whose buffer is
 *   detached.
 */
export function takeElements(
  field: string,
  value: unknown,
  most: number,
  limit: string,
): readonly unknown[] {
  let length: unknown;
  if (classNameOf.call(value) !== undefined) {
    const array = value as Uint8Array;
    if (isDetached(array)) throw outOfRange(field, value, 'an array whose buffer is not detached');
    length = lengthOf.call(array);
  } else if (isArray(value)) {
    // A proxy may say anything.
    ({ length } = value as { length: unknown });
  } else {
    throw wrongType(field, value, limit);
  }
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > most) {
    throw outOfRange(field, value, `an array of at most ${most} values`);
  }
  const taken: unknown[] = [];
  for (let i = 0; i < length; i++) taken.push((value as readonly unknown[])[i]);
  return taken;
}

/**
 * The bytes of a Uint8Array, with the length that it really has.
 *
 * @throws TracewrightError for anything else, and for one whose buffer is detached.
 */
export function takeBytes(field: string, value: unknown): Buffer {
  if (classNameOf.call(value) !== 'Uint8Array') throw wrongType(field, value, 'a Uint8Array');
  if (isDetached(value as Uint8Array)) {
    throw outOfRange(field, value, 'a Uint8Array whose buffer is not detached');
  }
  const buffer = bufferOf.call(value) as ArrayBuffer;
  return Buffer.from(buffer, byteOffsetOf.call(value), byteLengthOf.call(value));
}
