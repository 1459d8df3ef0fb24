import { hashBytes, mixed } from './byte-table.js';

/** Hashes of attributes, by which a search skips rows. They are stored: a change of one is a new version of the index. */

const TEXT_SEED = 0x811c_9dc5 | 0;
const WORD_SEED = 0x2545_f491;
const DOUBLE_SEED = 0x6c07_8965;

export const hashOfName = (bytes: Uint8Array, from: number, to: number): number =>
  hashBytes(bytes, from, to, TEXT_SEED);

/** Of a text; of the next piece of a long one, with the hash so far. */
export const hashOfText = (
  bytes: Uint8Array,
  from: number,
  to: number,
  before: number = TEXT_SEED,
): number => hashBytes(bytes, from, to, before);

/** Of a u64 or an i64. */
export const hashOfWord = (high: number, low: number): number =>
  Math.imul(low ^ Math.imul(high, 0x9e37_79b1) ^ WORD_SEED, 0x0100_0193);

/** Of an f64, by its bits. */
export const hashOfDouble = (high: number, low: number): number =>
  Math.imul(low ^ Math.imul(high, 0x9e37_79b1) ^ DOUBLE_SEED, 0x0100_0193);

export const hashOfPair = (name: number, value: number): number =>
  mixed(Math.imul(name, 0x9e37_79b1) ^ value);

const doubles = new DataView(new ArrayBuffer(8));

/** The hashes that an attribute can have of which a person gives the value as text: `200` is a number, too. */
export function hashesOfAttribute(name: string, value: string): number[] {
  const nameBytes = Buffer.from(name);
  const ofName = hashOfName(nameBytes, 0, nameBytes.length);
  const valueBytes = Buffer.from(value);
  const values = [hashOfText(valueBytes, 0, valueBytes.length)];
  if (/^-?\d{1,20}$/.test(value)) {
    doubles.setBigInt64(0, BigInt.asIntN(64, BigInt(value)));
    values.push(hashOfWord(doubles.getUint32(0), doubles.getUint32(4)));
  }
  const word = { true: 1, false: 0, null: 0 }[value];
  if (word !== undefined) values.push(hashOfWord(0, word));
  const number = Number(value);
  if (value.trim() !== '' && (!Number.isNaN(number) || value === 'NaN')) {
    doubles.setFloat64(0, number);
    values.push(hashOfDouble(doubles.getUint32(0), doubles.getUint32(4)));
  }
  return values.map((hash) => hashOfPair(ofName, hash));
}
