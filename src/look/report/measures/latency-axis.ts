const POWERS = Array.from({ length: 20 }, (_, power) => 10 ** power);

/** A logarithmic axis of durations. */
export class LatencyAxis {
  readonly #least: number;
  readonly #most: number;
  readonly #from: number;
  readonly #octaves: number;
  readonly #length: number;

  constructor(least: number, most: number, length: number) {
    this.#least = least;
    this.#most = most;
    this.#from = Math.log2(Math.max(least, 1));
    this.#octaves = Math.max(Math.log2(Math.max(most, 1)) - this.#from, 0.01);
    this.#length = length;
  }

  at(duration: number): number {
    const part = (Math.log2(Math.max(duration, 1)) - this.#from) / this.#octaves;
    return Math.min(Math.max(part, 0), 1) * this.#length;
  }

  /**
   * Round durations within the axis, the roundest first, which are at least so far apart; its ends if there is no second
   * one.
   */
  ticks(apart: number): number[] {
    const [from, to] = [this.#least * (1 - 1e-9), this.#most * (1 + 1e-9)];
    const chosen: number[] = [];
    for (const step of [1, 3, 2, 5, 4, 6, 7, 8, 9, 1.5, 2.5]) {
      for (const power of POWERS) {
        const tick = step * power;
        if (tick < from || tick > to) continue;
        const x = this.at(tick);
        if (chosen.every((other) => Math.abs(this.at(other) - x) >= apart)) chosen.push(tick);
      }
    }
    return chosen.length > 1 ? chosen : [this.#least, this.#most];
  }
}
