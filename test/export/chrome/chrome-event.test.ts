import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactMicroseconds } from '../../../src/export/chrome/chrome-writer.js';

/** Below some weeks, in which a double of microseconds has the nanoseconds. */
const anyTime = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 41 * 1000 }),
  fc.integer({ min: 0, max: 10_000_000 }),
);

it('gives viewers that cut off fractions of a nanosecond the same nanoseconds', () => {
  fc.assert(
    fc.property(anyTime, (time) => {
      expect(Math.trunc(exactMicroseconds(time) * 1000)).toBe(time);
      expect(Math.round(exactMicroseconds(time) * 1000)).toBe(time);
    }),
    { numRuns: 5000 },
  );
});

it('keeps slices that are nested or apart so', () => {
  const times = fc.tuple(anyTime, fc.nat(3000), fc.nat(3000), fc.nat(3000));
  fc.assert(
    fc.property(times, ([first, lead, inside, rest]) => {
      for (const whole of [Math.trunc, Math.round]) {
        const slice = (start: number, duration: number): [start: number, end: number] => {
          const begin = whole(exactMicroseconds(start) * 1000);
          return [begin, begin + whole(exactMicroseconds(duration) * 1000)];
        };
        const outer = slice(first, lead + inside + rest);
        const inner = slice(first + lead, inside);
        const next = slice(first + lead + inside, rest);
        expect(inner[0]).toBeGreaterThanOrEqual(outer[0]);
        expect(inner[1]).toBe(next[0]);
        expect(next[1]).toBe(outer[1]);
      }
    }),
    { numRuns: 5000 },
  );
});
