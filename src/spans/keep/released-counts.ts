/** Buckets of an octave: a bucket is 1/32 of its lower bound wide. */
const MANTISSA_BITS = 5;
const SHIFT = 20 - MANTISSA_BITS;
const BIAS = 1023 << MANTISSA_BITS;
/** Durations are below 2^48 ns, three days. */
const BUCKETS = (48 << MANTISSA_BITS) + 1;
const PAIRS = (BUCKETS + 1) >> 1;

// Not on V8's heap: where it lies is a constant of optimised code then.
const double = new Float64Array(new ArrayBuffer(8));
const words = new Uint32Array(double.buffer);
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

/** The bucket of a duration in nanoseconds: 0 below 1, else 1 + 32 times the octave, plus the part of it. */
export function bucketOf(duration: number): number {
  if (!(duration >= 1)) return 0;
  double[0] = duration;
  return Math.min((words[HIGH]! >>> SHIFT) - BIAS + 1, BUCKETS - 1);
}

/** Lower bound of a bucket; that of the next one is its upper bound. */
export function lowerBound(bucket: number): number {
  if (bucket === 0) return 0;
  const position = bucket - 1;
  return (
    2 ** (position >> MANTISSA_BITS) *
    (1 + (position & ((1 << MANTISSA_BITS) - 1)) / (1 << MANTISSA_BITS))
  );
}

/** Of `sums`: how many there were, nanoseconds of all together, how many had failed, and the longest that is usual. */
const COUNT = 0;
const TIME = 1;
const ERRORS = 2;
const LIMIT = 3;
const SUMS = 4;

/** Counts of durations, as a record has them. */
export interface RecordedCounts {
  readonly count: number;
  readonly errors: number;
  /** Nanoseconds of all together. */
  readonly time: number;
  /** `bucket:count` of those that are not empty, with commas. */
  readonly text: string;
}

/**
 * Durations by bucket, as native code counts them too: `WaitingCounts` of native/ring/waiting_index.h. What was taken
 * back after it was recorded is below 0, and missing from the next record.
 */
export class DurationCounts {
  readonly bytes = new Uint8Array(new ArrayBuffer(8 * SUMS + 8 * PAIRS));
  readonly counts = new Int32Array(this.bytes.buffer, 8 * SUMS, 2 * PAIRS);
  /** Two buckets each: 0 only if both are. */
  readonly #pairs = new Float64Array(this.bytes.buffer, 8 * SUMS, PAIRS);
  readonly #sums = new Float64Array(this.bytes.buffer, 0, SUMS);

  /** Nanoseconds up to which native code releases a request. */
  set limit(limit: number) {
    this.#sums[LIMIT] = limit;
  }

  get count(): number {
    return this.#sums[COUNT]!;
  }

  add(duration: number): void {
    const sums = this.#sums;
    this.counts[bucketOf(duration)]!++;
    sums[COUNT]!++;
    sums[TIME]! += duration;
  }

  addError(): void {
    this.#sums[ERRORS]!++;
  }

  /** The upper bound of the bucket with a percentile. */
  percentile(percent: number): number {
    let left = Math.ceil((percent * this.count) / 100);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.counts[bucket]!;
      if (left <= 0) return lowerBound(bucket + 1);
    }
    return Infinity;
  }

  /** Halves all counts, so that recent ones weigh more. */
  halve(): void {
    let sum = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      this.counts[bucket]! >>>= 1;
      sum += this.counts[bucket]!;
    }
    this.#sums[COUNT] = sum;
  }

  /** Takes the counts above 0 for a record, and sets them to 0; undefined: there are none. */
  take(): RecordedCounts | undefined {
    const { counts } = this;
    const pairs = this.#pairs;
    const sums = this.#sums;
    let count = 0;
    let missing = 0;
    let text = '';
    // One pass, in pairs: nearly all buckets are empty.
    for (let pair = 0; pair < pairs.length; pair++) {
      if (pairs[pair] === 0) continue;
      for (let bucket = 2 * pair; bucket <= 2 * pair + 1; bucket++) {
        const each = counts[bucket]!;
        if (each <= 0) {
          missing += each;
          continue;
        }
        count += each;
        text += `${text === '' ? '' : ','}${bucket}:${each}`;
        counts[bucket] = 0;
      }
    }
    if (count === 0) return undefined;
    const errors = Math.max(0, sums[ERRORS]!);
    const time = Math.max(0, sums[TIME]!);
    sums.fill(0, 0, LIMIT);
    sums[COUNT] = missing;
    return { count, errors, time, text };
  }
}
