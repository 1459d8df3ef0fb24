import { systemRandom } from '../../core/system-random.js';

/** The state of xoshiro128++, of this thread. Smallest integers to V8. */
let a = 0;
let b = 0;
let c = 0;
let d = 0;

function seed(): void {
  const words = new Int32Array(4);
  if (!systemRandom(new Uint8Array(words.buffer)) || words.every((word) => word === 0)) {
    for (let i = 0; i < 4; i++) words[i] = Math.random() * 2 ** 32;
    words[0]! |= 1;
  }
  [a, b, c, d] = words as unknown as [number, number, number, number];
}
seed();

/** 32 random bits, as a signed integer: no system call, and no object. */
export function randomWord(): number {
  const sum = (a + d) | 0;
  const result = (((sum << 7) | (sum >>> 25)) + a) | 0;
  const shifted = b << 9;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= shifted;
  d = (d << 11) | (d >>> 21);
  return result;
}

/** A 32-bit word as eight hexadecimal digits. */
export function hexWord(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
