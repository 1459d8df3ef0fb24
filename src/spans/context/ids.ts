import { fillRandom, systemRandom } from '../../core/native-calls.js';

/** The state of four generators, of this thread. */
const state = seed();

function seed(): Int32Array {
  const words = randomWords(16);
  // One of only zeros would make nothing else.
  for (let i = 0; i < 4; i++) words[i]! |= 1;
  return words;
}

/** Words that are random, or as good as. */
export function randomWords(count: number): Int32Array<ArrayBuffer> {
  const words = new Int32Array(count);
  if (!systemRandom(new Uint8Array(words.buffer))) {
    for (let i = 0; i < count; i++) words[i] = Math.random() * 2 ** 32;
  }
  return words;
}

/** A power of two: V8 knows by a mask that an index is one of the pool. */
export const POOL_WORDS = 1024;
/** Random words, made many at a time. */
export const pool = new Int32Array(POOL_WORDS);

/** Fills the pool. No system call, and no object. */
export function refill(): void {
  fillRandom(pool, state);
}

/** Every byte as two hexadecimal digits. V8 leaves compiled code for a number in any base but ten. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A 32-bit word as eight hexadecimal digits. */
export function hexWord(word: number): string {
  return (
    HEX[word >>> 24]! + HEX[(word >>> 16) & 0xff]! + HEX[(word >>> 8) & 0xff]! + HEX[word & 0xff]!
  );
}
