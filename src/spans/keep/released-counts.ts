/** Buckets of an octave: a bucket is 1/32 of its lower bound wide. */
const MANTISSA_BITS = 5;
const SHIFT = 20 - MANTISSA_BITS;
const BIAS = 1023 << MANTISSA_BITS;
/** Durations are below 2^48 ns, three days. */
const BUCKETS = (48 << MANTISSA_BITS) + 1;

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

/** Durations by bucket. */
export class DurationCounts {
  readonly counts = new Uint32Array(BUCKETS);
  count = 0;

  add(duration: number): void {
    this.counts[bucketOf(duration)]!++;
    this.count++;
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

  /** What is recent counts more than what is not. */
  halve(): void {
    this.count = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      this.counts[bucket]! >>>= 1;
      this.count += this.counts[bucket]!;
    }
  }

  clear(): void {
    this.counts.fill(0);
    this.count = 0;
  }

  /** `bucket:count` of those that are not empty, with commas. */
  get text(): string {
    const parts: string[] = [];
    this.counts.forEach((count, bucket) => {
      if (count > 0) parts.push(`${bucket}:${count}`);
    });
    return parts.join(',');
  }
}
