import { expect, it } from 'vitest';
import { fillRandom } from '../../../src/core/native-calls.js';
import { pool, refill } from '../../../src/spans/context/ids.js';

const LANES = 4;

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** The next word of one generator; see https://prng.di.unimi.it/xoshiro128plusplus.c. */
function nextWord(s: Int32Array): number {
  const result = (rotated((s[0]! + s[3]!) | 0, 7) + s[0]!) | 0;
  const t = s[1]! << 9;
  s[2]! ^= s[0]!;
  s[3]! ^= s[1]!;
  s[1]! ^= s[2]!;
  s[0]! ^= s[3]!;
  s[2]! ^= t;
  s[3] = rotated(s[3]!, 11);
  return result;
}

it('words are those of four generators of xoshiro128++ in turn', () => {
  const generators = Array.from({ length: LANES }, (_, lane) =>
    Int32Array.from({ length: 4 }, (_word, i) => 0x9e3779b9 * (4 * lane + i + 1)),
  );
  const state = new Int32Array(16);
  for (const [lane, words] of generators.entries()) {
    for (const [i, word] of words.entries()) state[LANES * i + lane] = word;
  }
  const filled = new Int32Array(32);
  // What follows goes on with the state.
  fillRandom(filled.subarray(0, 12), state);
  fillRandom(filled.subarray(12), state);
  const expected = Array.from(filled, (_, i) => nextWord(generators[i % LANES]!));
  expect([...filled]).toEqual(expected);
});

it('no word of two pools is the same', () => {
  refill();
  const first = [...pool];
  refill();
  // Of 1,024 words one in 8,000 pairs of pools has a word twice.
  expect(new Set([...first, ...pool]).size).toBeGreaterThan(2 * pool.length - 2);
});
