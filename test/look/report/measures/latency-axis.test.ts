import { describe, expect, it } from 'vitest';
import { LatencyAxis } from '../../../../src/look/report/measures/latency-axis.js';

/** Pixels of the axis, and between two labels. */
const LENGTH = 150;
const APART = 14;

function labelsOf(least: number, most: number): number[] {
  return new LatencyAxis(least, most, LENGTH).ticks(APART).sort((a, b) => a - b);
}

describe('the axis of durations', () => {
  it.each([
    [1e6, 1e9, [1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9]],
    [1.1e6, 9e6, [1.5e6, 2e6, 3e6, 4e6, 5e6, 7e6, 9e6]],
    [1.9e6, 2e7, [2e6, 3e6, 4e6, 5e6, 7e6, 1e7, 1.5e7, 2e7]],
    [2.1e6, 4.9e6, [2.5e6, 3e6, 4e6]],
    [2.1e6, 5.1e6, [2.5e6, 3e6, 4e6, 5e6]],
    [2.8e6, 3.4e6, [2.8e6, 3.4e6]],
  ])('has labels from %d ns to %d ns', (least, most, labels) => {
    expect(labelsOf(least, most)).toEqual(labels);
  });

  it('has two at least, wherever it begins and ends', () => {
    for (let least = 1; least < 1e10; least *= 1.3) {
      for (const times of [1.19, 1.5, 2, 3, 7, 20, 500, 1e6]) {
        const labels = labelsOf(least, least * times);
        expect(labels.length).toBeGreaterThanOrEqual(2);
        expect(labels[0]).toBeGreaterThanOrEqual(least * (1 - 1e-9));
        expect(labels.at(-1)).toBeLessThanOrEqual(least * times * (1 + 1e-9));
      }
    }
  });
});
