import { enlarged } from '../../../rows/row-columns.js';
import { LatencyHistogram, rankOf } from '../../index/latency-histogram.js';

/** Durations that a group keeps as they are. More go into a histogram, unless all are to be kept. */
const MAX_KEPT = 2048;

/** The durations of a group. */
export class Distribution {
  readonly #maxKept: number;
  #kept = new Float64Array(8);
  #sorted = false;
  #histogram: LatencyHistogram | undefined;
  count = 0;
  total = 0;
  max = 0;

  /** @param exact whether to keep every duration, for exact percentiles. */
  constructor(exact: boolean) {
    this.#maxKept = exact ? Infinity : MAX_KEPT;
  }

  add(duration: number): void {
    this.total += duration;
    if (duration > this.max) this.max = duration;
    const at = this.count++;
    if (this.#histogram !== undefined) {
      this.#histogram.add(duration);
      return;
    }
    if (at === this.#maxKept) {
      this.#histogram = this.#histogramOfKept(at);
      this.#histogram.add(duration);
      this.#kept = new Float64Array(0);
      return;
    }
    if (at === this.#kept.length) this.#kept = enlarged(this.#kept);
    this.#kept[at] = duration;
    this.#sorted = false;
  }

  /**
   * Adds durations of which only a histogram is known.
   *
   * @param total of all of them.
   */
  addCounted(
    durations: readonly (readonly [duration: number, count: number])[],
    total: number,
  ): void {
    const before = this.total;
    for (const [duration, count] of durations) {
      for (let i = 0; i < count; i++) this.add(duration);
    }
    this.total = before + total;
  }

  /** The least duration that this percentage of all does not exceed; 0 without any. */
  percentile(percent: number): number {
    if (this.count === 0) return 0;
    if (this.#histogram !== undefined) return this.#histogram.percentile(percent);
    if (!this.#sorted) this.#kept.subarray(0, this.count).sort();
    this.#sorted = true;
    return this.#kept[rankOf(percent, this.count) - 1]!;
  }

  get histogram(): LatencyHistogram {
    return this.#histogram ?? this.#histogramOfKept(this.count);
  }

  #histogramOfKept(count: number): LatencyHistogram {
    const histogram = new LatencyHistogram();
    for (let at = 0; at < count; at++) histogram.add(this.#kept[at]!);
    return histogram;
  }
}
