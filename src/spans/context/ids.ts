import { systemRandom } from '../../core/native-calls.js';

/** The state of xoshiro128++, of this thread. */
const state = seed();

function seed(): Int32Array {
  const words = new Int32Array(4);
  if (!systemRandom(new Uint8Array(words.buffer)) || words.every((word) => word === 0)) {
    for (let i = 0; i < 4; i++) words[i] = Math.random() * 2 ** 32;
    words[0]! |= 1;
  }
  return words;
}

const WORDS = 510;

/** Random words, made many at a time: the state is in registers then. */
export const pool = new Int32Array(WORDS);

/** Fills the pool. No system call, and no object. */
export function refill(): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  for (let i = 0; i < WORDS; i++) {
    const sum = (a + d) | 0;
    // Without `| 0` V8 computes doubles, which takes twice as long.
    pool[i] = (((sum << 7) | (sum >>> 25)) + a) | 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
  }
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

/** Every byte as two hexadecimal digits. V8 leaves compiled code for a number in any base but ten. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A 32-bit word as eight hexadecimal digits. */
export function hexWord(word: number): string {
  return (
    HEX[word >>> 24]! + HEX[(word >>> 16) & 0xff]! + HEX[(word >>> 8) & 0xff]! + HEX[word & 0xff]!
  );
}
