import { outOfRange, wrongType } from './errors.js';
import { bufferOf, byteLengthOf, byteOffsetOf, classNameOf, isDetached } from './typed-array.js';

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
