import { describe, expect, it } from 'vitest';
import {
  MeanOverTime,
  STRETCHES,
  differenceOf,
  moreThanChance,
} from '../../../src/look/compare/change-test.js';
import {
  percentileDifference,
  TimedDurations,
} from '../../../src/look/compare/percentile-change.js';

const CALLS = 2000;
const KINDS = 20;

/** Numbers from 0 to 1, the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
}

/**
 * Logarithms of durations of a kind of span: some moments, which all kinds share, are slow.
 *
 * @param slower how many times longer they take.
 */
function durationsOf(random: () => number, moments: readonly number[], slower = 1): MeanOverTime {
  const mean = new MeanOverTime();
  for (let call = 0; call < CALLS; call++) {
    const moment = Math.floor((call / CALLS) * moments.length);
    const duration = Math.log(5e6 * slower) + 0.5 * normal(random) + moments[moment]!;
    mean.add(duration, Math.floor((call / CALLS) * STRETCHES));
  }
  return mean;
}

/** Some moments are slow. */
function moments(random: () => number): number[] {
  return Array.from({ length: 60 }, () => (random() < 0.05 ? 0.4 * random() : 0));
}

/** Whether each kind of span is named. @param slower of the first kind. */
function named(seed: number, slower = 1): boolean[] {
  const random = randomOf(seed);
  const [before, after] = [moments(random), moments(random)];
  const changes = Array.from({ length: KINDS }, (_, kind) =>
    differenceOf(durationsOf(random, before), durationsOf(random, after, kind === 0 ? slower : 1)),
  );
  const isMore = moreThanChance(changes.map(({ chance }) => chance));
  return changes.map(({ value }, at) => isMore[at]! && Math.abs(value) >= Math.log(1.05));
}

describe('a change that is named', () => {
  it('is chance in at most 5 of 100 comparisons of a service with itself', () => {
    const wrong = Array.from({ length: 100 }, (_, at) => named(7 + at)).filter((kinds) =>
      kinds.includes(true),
    );
    expect(wrong.length).toBeLessThanOrEqual(5);
  });

  it('of a tail is chance in some 5 of 100 comparisons of a service with itself, as its limit says', () => {
    const random = randomOf(5);
    const side = (): TimedDurations => {
      const times = new TimedDurations();
      const slow = moments(random);
      for (let call = 0; call < CALLS; call++) {
        const moment = slow[Math.floor((call / CALLS) * slow.length)]!;
        const duration = 5e6 * Math.exp(0.5 * normal(random)) * (random() < moment ? 20 : 1);
        times.add(duration, Math.floor((call / CALLS) * STRETCHES));
      }
      return times;
    };
    const changes = Array.from({ length: 400 }, () => {
      const [before, after] = [side(), side()];
      return [95, 99].map((percent) => percentileDifference(before, after, percent));
    });
    expect(changes.filter(([p95]) => p95 !== undefined).length).toBeGreaterThan(390);
    for (const at of [0, 1]) {
      const wrong = changes.filter((each) => (each[at]?.chance ?? 1) < 0.05);
      expect(wrong.length).toBeLessThanOrEqual(30);
    }
  });

  it('is a true one of 10 % at 2,000 calls in 95 of 100 comparisons', () => {
    const found = Array.from({ length: 100 }, (_, at) => named(1007 + at, 1.1)).filter(
      ([first]) => first,
    );
    expect(found.length).toBeGreaterThanOrEqual(95);
  });

  it('has the interval of Student’s t', () => {
    const [before, after] = [new MeanOverTime(), new MeanOverTime()];
    for (const [at, value] of [1, 2, 3, 4, 5].entries()) before.add(value, at);
    for (const [at, value] of [3, 4, 5, 6, 7].entries()) after.add(value, at);
    // By R: t.test(c(3,4,5,6,7), c(1,2,3,4,5)): -0.306 to 4.306, p = 0.0805.
    const { value, low, high, chance } = differenceOf(before, after);
    expect(value).toBe(2);
    expect(low).toBeCloseTo(-0.306, 1);
    expect(high).toBeCloseTo(4.306, 1);
    expect(chance).toBeCloseTo(0.0805, 2);
  });

  it('says nothing where nothing varies, and names what alone differs', () => {
    expect(moreThanChance([1, 1, 1])).toEqual([false, false, false]);
    expect(moreThanChance([0.04, 1e-9, 0.5])).toEqual([false, true, false]);
    expect(moreThanChance([])).toEqual([]);
  });
});
