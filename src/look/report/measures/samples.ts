import type { LookIndex } from '../../index/look-index.js';

/** The next of a sequence of numbers below 2^31 that is the same in every run. */
export function nextRandom(random: number): number {
  return (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fff_ffff;
}

/** Takes some of many durations, evenly from their sum, from their number, or from both: long ones are among them then. */
export class TimeSampler {
  readonly #most: number;
  readonly #isWhole: boolean;
  /** Samples for each ns, and for each duration. */
  readonly #ofTime: number;
  readonly #ofEach: number;
  /** In samples: how far one has come, and where the next one is, which lies anywhere in its step. */
  #passed = 0;
  #next = 0.5;
  #taken = 0;
  #random = 1;

  /**
   * @param all how many durations there are, and their sum.
   * @param byNumber the part of the samples that is taken evenly from the number: no duration then counts much more often
   *   than it should.
   */
  constructor({ count, total }: { count: number; total: number }, most: number, byNumber = 0) {
    this.#most = most;
    this.#isWhole = count <= most;
    this.#ofTime = (most * (1 - byNumber)) / Math.max(1, total);
    this.#ofEach = (most * byNumber) / Math.max(1, count);
  }

  /** How often the next duration counts; 0: it is not looked at. */
  weightOf(duration: number): number {
    if (this.#isWhole) return 1;
    const samples = duration * this.#ofTime + this.#ofEach;
    this.#passed += samples;
    const before = this.#taken;
    // Not for longer, whatever a forged index says of the times.
    while (this.#taken < this.#most && this.#passed >= this.#next) {
      this.#taken += 1;
      // The same in every run. At equal distances, samples would meet the same spans of a pattern.
      this.#random = nextRandom(this.#random);
      this.#next = this.#taken + this.#random / 0x8000_0000;
    }
    return this.#taken === before ? 0 : (this.#taken - before) / samples;
  }
}

/**
 * Rows of all of an index, one of each of `most` stretches: the same in every run. At equal distances, they would meet
 * the same spans of a pattern.
 */
export function* sampledRows({ rows }: Pick<LookIndex, 'rows'>, most: number): Generator<number> {
  const step = Math.max(1, rows / most);
  let random = 1;
  for (let from = 0; Math.floor(from) < rows; from += step) {
    random = nextRandom(random);
    const row = Math.floor(from + (step * random) / 0x8000_0000);
    if (row < rows) yield row;
  }
}
