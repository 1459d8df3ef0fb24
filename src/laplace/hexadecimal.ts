import { integerIn } from '../core/options/argument.js';
import { wrongType } from '../core/errors.js';

/** Values of a field of 64 bits. A number up to 2^53 - 1 is exact and needs no allocation. */
export type Wide = number | bigint;

const TWO_TO_32 = 0x1_0000_0000;
const TWO_TO_MINUS_32 = 2 ** -32;
const NO_DIGIT = 0xff;

const digits = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** The value of a hexadecimal digit, of either case, by its character code; above 15: not a digit. */
export const digitValue = new Uint8Array(256).fill(NO_DIGIT);
for (let value = 0; value < 16; value++) {
  digitValue[digits[value]!] = value;
  digitValue[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/** Four digits of every 16-bit number, as a u32 that a little-endian store puts in reading order. */
export const fourDigits = new Uint32Array(65_536);
for (let value = 0; value < fourDigits.length; value++) {
  fourDigits[value] =
    digits[value >> 12]! |
    (digits[(value >> 8) & 15]! << 8) |
    (digits[(value >> 4) & 15]! << 16) |
    (digits[value & 15]! << 24);
}

/** Digits of a u32 without padding: 1 to 8. */
export function digitCount(value: number): number {
  return (35 - Math.clz32(value | 1)) >> 2;
}

/** Writes a u32 without padding at `at` and returns where it ends. */
export function writeHex32(bytes: Uint8Array, at: number, value: number): number {
  const end = at + digitCount(value);
  let rest = value;
  for (let i = end - 1; i >= at; i--) {
    bytes[i] = digits[rest & 15]!;
    rest >>>= 4;
  }
  return end;
}

function writeLowHalf(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  for (let i = at + 7; i >= at; i--) {
    bytes[i] = digits[rest & 15]!;
    rest >>>= 4;
  }
  return at + 8;
}

/** Writes a checked number of up to 64 bits without padding. */
export function writeHex(bytes: Uint8Array, at: number, value: Wide): number {
  if (typeof value === 'number') {
    if (value < TWO_TO_32) return writeHex32(bytes, at, value);
    return writeLowHalf(bytes, writeHex32(bytes, at, Math.floor(value / TWO_TO_32)), value >>> 0);
  }
  const high = Number(value >> 32n);
  const low = Number(value & 0xffff_ffffn);
  return high === 0
    ? writeHex32(bytes, at, low)
    : writeLowHalf(bytes, writeHex32(bytes, at, high), low);
}

/** The digits of a 16-bit number, as a u32 that a big-endian store puts in reading order. */
function digitsOf(value: number): number {
  const bytes = ((value & 0xff00) << 8) | (value & 0xff);
  const nibbles = ((bytes & 0x00f0_00f0) << 4) | (bytes & 0x000f_000f);
  const letters = ((nibbles + 0x0606_0606) >>> 4) & 0x0101_0101;
  return nibbles + 0x3030_3030 + Math.imul(letters, 'a'.charCodeAt(0) - '9'.charCodeAt(0) - 1);
}

/**
 * Writes a u32 without padding at `at` and returns where it ends, without a branch for each digit.
 * Always stores eight bytes; those after the end are arbitrary.
 */
export function putHex32(view: DataView, at: number, value: number): number {
  const count = digitCount(value);
  const leftmost = value << ((8 - count) << 2);
  view.setUint32(at, digitsOf(leftmost >>> 16));
  view.setUint32(at + 4, digitsOf(leftmost & 0xffff));
  return at + count;
}

/** Like {@link putHex32}, for a number that passed {@link isExact}; stores up to sixteen bytes. */
export function putHex(view: DataView, at: number, value: number): number {
  const low = value >>> 0;
  if (low === value) return putHex32(view, at, low);
  const end = putHex32(view, at, Math.floor(value * TWO_TO_MINUS_32));
  view.setUint32(end, digitsOf(low >>> 16));
  view.setUint32(end + 4, digitsOf(low & 0xffff));
  return end + 8;
}

/** Whether a value is a number that a 64-bit field represents exactly. */
export function isExact(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    value >= 0 &&
    value <= Number.MAX_SAFE_INTEGER &&
    Math.floor(value) === value
  );
}

/**
 * Checks a value of a field of at most 32 bits, which takes no bigint.
 *
 * @throws TracewrightError that names the field, the value and the range.
 */
export function checkWord(field: string, value: unknown, high: number): void {
  if (typeof value === 'bigint') throw wrongType(field, value, `a number from 0 to ${high}`);
  integerIn(field, value, 0, high);
}
