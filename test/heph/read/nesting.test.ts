import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Nesting } from '../../../src/heph/read/nesting.js';

type Interval = readonly [start: number, end: number];

const fits = (spans: Interval[]): boolean[] => {
  const nesting = new Nesting();
  return spans.map(([start, end]) => nesting.add(start, end));
};

const crosses = ([a, b]: Interval, [c, d]: Interval): boolean =>
  (a < c && c < b && b < d) || (c < a && a < d && d < b);

const interval = fc
  .tuple(fc.nat(30), fc.nat(30))
  .map(([a, b]): Interval => [Math.min(a, b), Math.max(a, b)]);

/** Random spans none of which overlaps another in part. */
const nested = fc
  .array(interval, { maxLength: 40 })
  .map((spans) =>
    spans.reduce<Interval[]>(
      (kept, span) => (kept.some((other) => crosses(span, other)) ? kept : [...kept, span]),
      [],
    ),
  );

describe('Nesting', () => {
  it('takes spans side by side, inside one another, touching and empty', () => {
    expect(
      fits([
        [0, 5],
        [5, 10],
        [10, 10],
        [0, 10],
        [20, 30],
        [21, 22],
        [22, 25],
      ]),
    ).toEqual([true, true, true, true, true, true, true]);
  });

  it('refuses a span that overlaps another in part, and forgets it', () => {
    expect(
      fits([
        [0, 10],
        [5, 15],
        [10, 20],
        [5, 25],
        [3, 30],
      ]),
    ).toEqual([true, false, true, false, false]);
  });

  it('never takes two that overlap in part, in whatever order they come', () => {
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 40 }), (spans) => {
        const taken = fits(spans);
        const kept = spans.filter((_, i) => taken[i]);
        expect(kept.some((a) => kept.some((b) => crosses(a, b)))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes everything that is nested, in the order of the ends', () => {
    fc.assert(
      fc.property(nested, (spans) => {
        const finished = [...spans].sort((a, b) => a[1] - b[1] || b[0] - a[0]);
        expect(fits(finished)).not.toContain(false);
      }),
    );
  });

  it('takes everything that is nested, in the order of the starts', () => {
    fc.assert(
      fc.property(nested, (spans) => {
        const started = [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1]);
        expect(fits(started)).not.toContain(false);
      }),
    );
  });

  it('takes a span that holds more spans than are remembered', () => {
    const many = Array.from({ length: 1000 }, (_, i): Interval => [i, i + 1]);
    expect(fits([...many, [0, 1000], [1000, 1001]])).not.toContain(false);
  });

  it('ends at a depth that no viewer shows', () => {
    const deep = Array.from({ length: 2000 }, (_, i): Interval => [i, 10000 - i]);
    const taken = fits(deep);
    expect(taken.slice(0, 512)).not.toContain(false);
    expect(taken.slice(512)).not.toContain(true);
  });
});
