import { mixed } from '../../../rows/byte-table.js';

/** Hashes of attributes, by which a search skips rows. They are stored: a change of one is a new version of the index. */

/** Further bytes of a text do not count. */
export const HASHED_TEXT_BYTES = 256;
const TEXT_SEED = 0x811c_9dc5 | 0;
const WORD_SEED = 0x2545_f491;
/** In addition to the hash of the first piece of a text, if that is too short to count for all of it. */
export const ANY_TEXT = 0x1b87_3593;

/** Of a text or a name. */
export function hashOfText(view: DataView, from: number, to: number): number {
  const length = to - from;
  const end = length > HASHED_TEXT_BYTES ? from + HASHED_TEXT_BYTES : to;
  // Four bytes at a time: this runs over all attributes of a trace.
  let hash = TEXT_SEED ^ (end - from);
  let at = from;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e37_79b1);
    hash = (hash << 13) | (hash >>> 19);
  }
  if (at === end) return hash;
  // The last four bytes, of which some have counted.
  if (length >= 4) return Math.imul(hash ^ view.getInt32(end - 4, true), 0x0100_0193);
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x0100_0193);
  return hash;
}

function hashOfString(text: string): number {
  const { buffer, byteOffset, length } = Buffer.from(text);
  return hashOfText(new DataView(buffer, byteOffset, length), 0, length);
}

/** Of a u64, an i64, or the bits of an f64. */
export const hashOfWord = (high: number, low: number): number =>
  Math.imul(low ^ Math.imul(high, 0x9e37_79b1) ^ WORD_SEED, 0x0100_0193);

/** Of an attribute by the hashes of its name and of its value. */
export const hashOfPair = (name: number, value: number): number =>
  mixed(Math.imul(name, 0x9e37_79b1) ^ value);

const doubles = new DataView(new ArrayBuffer(8));

/** The hashes that an attribute can have of which a person gives the value as text: `200` is a number, too. */
export function hashesOfAttribute(name: string, value: string): number[] {
  const ofName = hashOfString(name);
  const values = [hashOfString(value), ANY_TEXT];
  const addInteger = (integer: bigint): void => {
    doubles.setBigInt64(0, BigInt.asIntN(64, integer));
    values.push(hashOfWord(doubles.getInt32(0), doubles.getInt32(4)));
  };
  if (/^-?\d{1,20}$/.test(value)) addInteger(BigInt(value));
  // `404.0` is one, too.
  else if (value.trim() !== '' && Number.isSafeInteger(Number(value)))
    addInteger(BigInt(Number(value)));
  const word = { true: 1, false: 0, null: 0 }[value];
  if (word !== undefined) values.push(hashOfWord(0, word));
  const number = Number(value);
  if (value.trim() !== '' && (!Number.isNaN(number) || value === 'NaN')) {
    doubles.setFloat64(0, number);
    values.push(hashOfWord(doubles.getInt32(0), doubles.getInt32(4)));
  }
  return values.map((hash) => hashOfPair(ofName, hash));
}
