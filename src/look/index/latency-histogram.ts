/** Buckets of one octave: a bucket is 1/128 of its lower bound wide, so its middle is 0.4 % off at most. */
const MANTISSA_BITS = 7;
const OCTAVE = 1 << MANTISSA_BITS;
/** The high word of a double has 20 bits of the mantissa. */
const SHIFT = 20 - MANTISSA_BITS;
const BIAS = 1023 << MANTISSA_BITS;
/** Durations are below 2^63 ns. */
const OCTAVES = 63;
const BUCKETS = OCTAVES * OCTAVE + 1;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

function bucketOf(value: number): number {
  if (!(value >= 1)) return 0;
  double[0] = value;
  return Math.min((words[HIGH]! >>> SHIFT) - BIAS + 1, BUCKETS - 1);
}

/** Lower bound of a bucket; that of the next one is its upper bound. */
function lowerBound(bucket: number): number {
  if (bucket === 0) return 0;
  const number = bucket - 1;
  return 2 ** (number >> MANTISSA_BITS) * (1 + (number & (OCTAVE - 1)) / OCTAVE);
}

/** How many durations are in [from, to), both in ns. */
interface HistogramBucket {
  from: number;
  to: number;
  count: number;
}

/**
 * A logarithmic histogram of durations in whole nanoseconds, from 0 to 2^63. A quantile is off by at
 * most 0.4 %, and exact below 128 ns. Takes 32 KiB.
 */
export class LatencyHistogram {
  /** By bucket. */
  readonly counts = new Uint32Array(BUCKETS);
  count = 0;
  min = Infinity;
  max = -Infinity;

  add(duration: number): void {
    this.counts[bucketOf(duration)]!++;
    this.count++;
    if (duration < this.min) this.min = duration;
    if (duration > this.max) this.max = duration;
  }

  /** The least duration that this percentage of all does not exceed; NaN if there is none. */
  percentile(percent: number): number {
    if (this.count === 0) return NaN;
    let left = rankOf(percent, this.count);
    for (let bucket = bucketOf(this.min); bucket < BUCKETS; bucket++) {
      left -= this.counts[bucket]!;
      if (left > 0) continue;
      const from = lowerBound(bucket);
      const to = lowerBound(bucket + 1);
      const middle = to - from <= 1 ? Math.ceil(from) : (from + to) / 2;
      return Math.min(Math.max(middle, this.min), this.max);
    }
    return this.max;
  }

  /** The buckets that are not empty, ascending. */
  *buckets(): Generator<HistogramBucket, void> {
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = this.counts[bucket]!;
      if (count > 0) yield { from: lowerBound(bucket), to: lowerBound(bucket + 1), count };
    }
  }
}

/**
 * Which of `count` sorted values, from 1, is the percentile: the first that so many do not exceed. SQL calls
 * it `percentile_disc`.
 */
export function rankOf(percent: number, count: number): number {
  return Math.max(1, Math.ceil((percent * count) / 100));
}
