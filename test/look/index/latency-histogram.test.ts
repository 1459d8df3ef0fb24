import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LatencyHistogram, rankOf } from '../../../src/look/index/latency-histogram.js';

function histogramOf(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.add(value);
  return histogram;
}

function exact(values: readonly number[], percent: number): number {
  return [...values].sort((a, b) => a - b)[rankOf(percent, values.length) - 1]!;
}

const durations = fc.array(
  fc.oneof(
    fc.nat(300),
    fc.nat(2 ** 31 - 1),
    fc.maxSafeNat(),
    fc.constant(2 ** 63),
    fc.constant(9.2e18),
  ),
  { minLength: 1, maxLength: 300 },
);

describe('LatencyHistogram', () => {
  it('is at most 0.4 % off the exact percentile', () => {
    fc.assert(
      fc.property(durations, fc.constantFrom(0, 1, 50, 95, 99, 100), (values, percent) => {
        const right = exact(values, percent);
        const got = histogramOf(values).percentile(percent);
        expect(Math.abs(got - right)).toBeLessThanOrEqual(0.004 * right);
      }),
    );
  });

  it('is exact below 128 ns', () => {
    const values = Array.from({ length: 128 }, (_, n) => n);
    for (let percent = 0; percent <= 100; percent++) {
      expect(histogramOf(values).percentile(percent)).toBe(exact(values, percent));
    }
  });

  it('has buckets that contain their values', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const [bucket, ...rest] = histogramOf([value]).buckets();
        expect(rest).toEqual([]);
        expect(bucket!.count).toBe(1);
        expect(bucket!.from).toBeLessThanOrEqual(value);
        expect(bucket!.to).toBeGreaterThan(value);
      }),
    );
  });

  it('takes what is no duration for 0 and says that nothing has no percentile', () => {
    expect(histogramOf([-5, NaN]).counts[0]).toBe(2);
    expect(new LatencyHistogram().percentile(50)).toBeNaN();
  });
});
