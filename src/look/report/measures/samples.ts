import type { LookIndex } from '../../index/look-index.js';

/** The next of a sequence of numbers below 2^31 that is the same in every run. */
export function nextRandom(random: number): number {
  return (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fff_ffff;
}

/** Takes some of many durations, evenly from their sum: one that is twice as long is taken twice as often. */
export class TimeSampler {
  readonly #most: number;
  readonly #isWhole: boolean;
  /** Ns for each sample. */
  readonly #step: number;
  #time = 0;
  #taken = 0;
  /** In steps: the time of the next sample, which lies anywhere in its step. */
  #next = 0.5;
  #random = 1;

  /** @param all how many durations there are, and their sum. */
  constructor({ count, total }: { count: number; total: number }, most: number) {
    this.#most = most;
    this.#isWhole = count <= most;
    this.#step = total / most;
  }

  /** How often the next duration counts; 0: it is not looked at. */
  weightOf(duration: number): number {
    if (duration === 0) return 0;
    if (this.#isWhole) return 1;
    this.#time += duration;
    const before = this.#taken;
    // Not for longer, whatever a forged index says of the times.
    while (this.#taken < this.#most && this.#time >= this.#next * this.#step) {
      this.#taken += 1;
      // The same in every run. At equal distances, samples would meet the same spans of a pattern.
      this.#random = nextRandom(this.#random);
      this.#next = this.#taken + this.#random / 0x8000_0000;
    }
    return ((this.#taken - before) * this.#step) / duration;
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
