/** Of a normal distribution: 95 % lie within so many standard deviations. */
const CONFIDENCE = 1.96;
/** Of the changes that are named, so many may be chance. */
const FALSE_SHARE = 0.05;

/**
 * Stretches of time into which a side is cut. What makes one span slow (a collection, a busy neighbour) makes
 * those next to it slow too, so the stretches say how far a mean may be off, not the single spans.
 */
export const STRETCHES = 20;

/** The squared standard error of a mean, and how many independent values it has. */
export interface MeanError {
  variance: number;
  freedom: number;
}

/** The mean of values that were taken over time, and how far it may be off. */
export class MeanOverTime {
  count = 0;
  #mean = 0;
  #squares = 0;
  readonly #counts = new Float64Array(STRETCHES);
  readonly #sums = new Float64Array(STRETCHES);

  /** @param stretch when the value was taken: from 0 to below STRETCHES. */
  add(value: number, stretch: number): void {
    this.count += 1;
    // Welford's way: no sum of squares grows out of its digits.
    const difference = value - this.#mean;
    this.#mean += difference / this.count;
    this.#squares += difference * (value - this.#mean);
    this.#counts[stretch]! += 1;
    this.#sums[stretch]! += value;
  }

  /** How many values each stretch has. */
  get counts(): Readonly<Float64Array> {
    return this.#counts;
  }

  get mean(): number {
    return this.#mean;
  }

  get error(): MeanError {
    const { count } = this;
    const ofSpans = this.#squares / (count - 1) / count;
    let [used, squares] = [0, 0];
    for (let at = 0; at < STRETCHES; at++) {
      const own = this.#counts[at]!;
      if (own === 0) continue;
      used += 1;
      squares += (this.#sums[at]! - own * this.#mean) ** 2;
    }
    const ofStretches = used < 2 ? 0 : ((used / (used - 1)) * squares) / count ** 2;
    return ofStretches > ofSpans
      ? { variance: ofStretches, freedom: used - 1 }
      : { variance: ofSpans, freedom: count - 1 };
  }
}

/** The difference of two means: its 95 % interval, and how likely chance alone makes one as large. */
export interface MeanDifference {
  value: number;
  low: number;
  high: number;
  chance: number;
}

/** The standard error of the difference of two means, and half of its 95 % interval. */
export function errorOfDifference(
  first: MeanError,
  second: MeanError,
): { error: number; freedom: number; reach: number } {
  const variance = first.variance + second.variance;
  if (variance === 0) return { error: 0, freedom: 1, reach: 0 };
  const freedom =
    variance ** 2 / (first.variance ** 2 / first.freedom + second.variance ** 2 / second.freedom);
  const error = Math.sqrt(variance);
  return { error, freedom, reach: reachOf(error, freedom) };
}

/** Half of the 95 % interval of a mean with such an error. */
export function reachOf(error: number, freedom: number): number {
  // Student's t has longer tails than the normal distribution: the first term of the expansion.
  return error * CONFIDENCE * (1 + (CONFIDENCE ** 2 + 1) / (4 * freedom));
}

/** How likely chance alone makes a difference as large, of which half of the 95 % interval is known. */
export function tailChance(value: number, reach: number): number {
  if (reach === 0) return value === 0 ? 1 : 0;
  return 2 * normalTail((CONFIDENCE * Math.abs(value)) / reach);
}

/** How likely at most so many of all fall on a side by chance, if this share of them does on average. */
export function chanceOfFew(few: number, all: number, share: number): number {
  let [term, sum] = [(1 - share) ** all, 0];
  for (let at = 0; at <= few; at++) {
    sum += term;
    term *= (((all - at) / (at + 1)) * share) / (1 - share);
  }
  return sum;
}

/** Welch's test. Both sides need two values at least. */
export function differenceOf(before: MeanOverTime, after: MeanOverTime): MeanDifference {
  const value = after.mean - before.mean;
  const { error, freedom, reach } = errorOfDifference(before.error, after.error);
  if (error === 0) return { value, low: value, high: value, chance: value === 0 ? 1 : 0 };
  const chance = 2 * normalTail(normalOf(Math.abs(value) / error, freedom));
  return { value, low: value - reach, high: value + reach, chance };
}

/** The value of a normal distribution that is as unlikely as `t` (Wallace 1959; right within 0.02). */
function normalOf(t: number, freedom: number): number {
  const scale = (8 * freedom + 1) / (8 * freedom + 3);
  return scale * Math.sqrt(freedom * Math.log1p(t ** 2 / freedom));
}

/** How likely a normal value is above `z` >= 0: Abramowitz and Stegun 26.2.17, right within 1e-7. */
function normalTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}

/**
 * Which of many differences are more than chance, by the way of Benjamini and Hochberg: of those that are
 * named, at most 5 % are expected to be chance.
 */
export function moreThanChance(chances: readonly number[]): boolean[] {
  const sorted = chances.toSorted((a, b) => a - b);
  const isBelow = (chance: number, at: number): boolean =>
    chance <= (FALSE_SHARE * (at + 1)) / sorted.length;
  const limit = sorted.findLast(isBelow) ?? -1;
  return chances.map((chance) => chance <= limit);
}
