import { describe, expect, it } from 'vitest';
import { latencyLabels } from '../../src/page/panels/latency/latency-map.js';

describe('the axis of durations', () => {
  it.each([
    [1e6, 1e9, [1e6, 1e7, 1e8, 1e9]],
    [1.1e6, 9e6, [1.5e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6]],
    [1.9e6, 2e7, [2e6, 5e6, 1e7, 2e7]],
    [2.1e6, 4.9e6, [3e6, 4e6]],
    [2.1e6, 5.1e6, [3e6, 4e6, 5e6]],
    [2.8e6, 3.4e6, [2.8e6, 3.4e6]],
  ])('has labels from %d ns to %d ns', (least, most, labels) => {
    expect(latencyLabels(least, most)).toEqual(labels);
  });

  it('has two at least, wherever it begins and ends', () => {
    for (let least = 1; least < 1e10; least *= 1.3) {
      for (const times of [1.19, 1.5, 2, 3, 7, 20, 500, 1e6]) {
        const labels = latencyLabels(least, least * times);
        expect(labels.length).toBeGreaterThanOrEqual(2);
        expect(labels[0]).toBeGreaterThanOrEqual(least * (1 - 1e-9));
        expect(labels.at(-1)).toBeLessThanOrEqual(least * times);
      }
    }
  });
});
