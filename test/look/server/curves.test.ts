import { expect, it } from 'vitest';
import type { Counter } from '../../../src/look/index/look-index.js';
import { addPoints } from '../../../src/look/server/routes/time-line.js';
import type { Points } from '../../../src/look/server/routes/time-line.js';

function curve(times: number[], values: number[]): Counter {
  const name = 'requests in flight';
  const columns = { times: Float64Array.from(times), values: Float64Array.from(values) };
  return { source: 0, thread: 0, name, unit: '', ...columns };
}

it('a pixel shows how far a curve went in it, and what holds after it', () => {
  const points: Points = { counter: [], time: [], low: [], high: [] };
  addPoints(points, 7, curve([0, 1, 2, 3, 50], [1, 5, 2, 0, 4]), 0, 100, 10);
  expect(points).toEqual({
    counter: [7, 7, 7],
    time: [0, 3, 50],
    low: [0, 0, 4],
    high: [5, 0, 4],
  });
});

it('the value from before a window holds in it', () => {
  const points: Points = { counter: [], time: [], low: [], high: [] };
  addPoints(points, 0, curve([0, 10, 90], [1, 2, 3]), 20, 80, 10);
  expect(points).toEqual({ counter: [0], time: [10], low: [2], high: [2] });
});
