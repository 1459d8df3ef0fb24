import { firstAtLeast } from '../../index/parts/first-at-least.js';

/** Intervals of time, merged where they overlap. */
export class IntervalSet {
  #starts: number[] = [];
  #ends: number[] = [];
  /** Time before each merged interval. */
  #before: Float64Array | undefined;

  add(start: number, end: number): void {
    if (!(end > start)) return;
    this.#starts.push(start);
    this.#ends.push(end);
    this.#before = undefined;
  }

  /** Time of [start, end) that lies within the intervals. */
  overlap(start: number, end: number): number {
    return end > start ? this.#until(end) - this.#until(start) : 0;
  }

  /** Whether [start, end) overlaps one of them. To be asked in the order of `start`. */
  inOrder(): (start: number, end: number) => boolean {
    this.#before ??= this.#merge();
    const [starts, ends] = [this.#starts, this.#ends];
    let at = 0;
    return (start, end) => {
      while (at < ends.length && ends[at]! <= start) at++;
      return at < ends.length && starts[at]! < end;
    };
  }

  /** The first `most` parts of [start, end) that lie within the intervals. */
  *within(start: number, end: number, most: number): Generator<[start: number, end: number], void> {
    this.#before ??= this.#merge();
    let left = most;
    for (
      let at = Math.max(0, firstAtLeast(this.#starts, start) - 1);
      at < this.#starts.length;
      at++
    ) {
      const from = Math.max(start, this.#starts[at]!);
      if (from >= end || left <= 0) return;
      const to = Math.min(end, this.#ends[at]!);
      if (to <= from) continue;
      left--;
      yield [from, to];
    }
  }

  /** Time within the intervals up to `time`. */
  #until(time: number): number {
    const before = (this.#before ??= this.#merge());
    const low = firstAtLeast(this.#starts, time);
    if (low === 0) return 0;
    const last = low - 1;
    return before[last]! + Math.min(time, this.#ends[last]!) - this.#starts[last]!;
  }

  #merge(): Float64Array {
    const order = this.#starts.map((_, at) => at);
    order.sort((a, b) => this.#starts[a]! - this.#starts[b]!);
    const starts: number[] = [];
    const ends: number[] = [];
    for (const at of order) {
      const start = this.#starts[at]!;
      const end = this.#ends[at]!;
      if (ends.length > 0 && start <= ends.at(-1)!) {
        ends[ends.length - 1] = Math.max(ends.at(-1)!, end);
      } else {
        starts.push(start);
        ends.push(end);
      }
    }
    this.#starts = starts;
    this.#ends = ends;
    const before = new Float64Array(starts.length);
    for (let at = 1; at < starts.length; at++) {
      before[at] = before[at - 1]! + ends[at - 1]! - starts[at - 1]!;
    }
    return before;
  }
}
