import { enlarged } from '../../rows/row-columns.js';
import { Distribution } from '../report/measures/distribution.js';
import { MeanOverTime, reachOf, tailChance } from './change-test.js';
import type { MeanDifference } from './change-test.js';

/** Durations of spans, and in which stretch of time each began. */
export class TimedDurations {
  readonly durations = new Distribution(false);
  #values = new Float64Array(8);
  #stretches = new Uint8Array(8);

  add(duration: number, stretch: number): void {
    const at = this.durations.count;
    this.durations.add(duration);
    if (at === this.#values.length) {
      this.#values = enlarged(this.#values);
      this.#stretches = enlarged(this.#stretches);
    }
    this.#values[at] = duration;
    this.#stretches[at] = stretch;
  }

  /** The logarithm of a percentile, and its 95 % interval; undefined: too few spans are above it (Woodruff 1952). */
  boundsOf(percent: number): PercentileBounds | undefined {
    const { durations } = this;
    const { count } = durations;
    const share = percent / 100;
    const limit = durations.percentile(percent);
    const isAbove = new MeanOverTime();
    for (let at = 0; at < count; at++) {
      isAbove.add(this.#values[at]! > limit ? 1 : 0, this.#stretches[at]!);
    }
    const { variance, freedom } = isAbove.error;
    // Equal durations would hide how few there are.
    const error = Math.sqrt(Math.max(variance, (share * (1 - share)) / count));
    const reach = 100 * reachOf(error, freedom);
    // With one end alone, the side that has seen fewer slow moments would seem sure.
    if (!(percent + reach <= 100 * (1 - 1 / count))) return undefined;
    const logarithm = (of: number): number => Math.log(Math.max(1, durations.percentile(of)));
    return {
      value: logarithm(percent),
      low: logarithm(Math.max(0, percent - reach)),
      high: logarithm(percent + reach),
    };
  }
}

interface PercentileBounds {
  value: number;
  low: number;
  high: number;
}

/** How the logarithm of a percentile differs; undefined: a side has too few spans above it. */
export function percentileDifference(
  before: TimedDurations,
  after: TimedDurations,
  percent: number,
): MeanDifference | undefined {
  const [first, second] = [before.boundsOf(percent), after.boundsOf(percent)];
  if (first === undefined || second === undefined) return undefined;
  const value = second.value - first.value;
  // Intervals that are not symmetric add up by their own sides.
  const low = value - Math.hypot(second.value - second.low, first.high - first.value);
  const high = value + Math.hypot(second.high - second.value, first.value - first.low);
  return { value, low, high, chance: tailChance(value, value > 0 ? value - low : high - value) };
}
