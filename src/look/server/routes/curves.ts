import type { Counter } from '../../index/look-index.js';
import { firstAtLeast } from '../../index/parts/sorted.js';
import type { CurveColumns } from '../../wire/answers.js';
import type { Route } from '../route.js';

/** Curves in a window: `from`, `to` in ns, `width` in pixels, `counters` as `0-3,7`. */
export const curvesRoute: Route = {
  path: '/data/curves',
  method: 'GET',
  answer({ recording: { index, revision }, query }) {
    const { from, to } = query.range();
    const width = query.integer('width', 1, 32_768);
    const counters = query.integers('counters', index.counters.length, 256);
    const points: Points = { counter: [], time: [], low: [], high: [] };
    for (const number of counters) {
      addPoints(points, number, index.counters[number]!, from, to, width);
    }
    const columns: CurveColumns = {
      counter: Uint32Array.from(points.counter),
      time: Float64Array.from(points.time),
      low: Float64Array.from(points.low),
      high: Float64Array.from(points.high),
    };
    return { columns: { ...columns }, meta: { revision } };
  },
};

export type Points = Record<keyof CurveColumns, number[]>;

/** At most two points a pixel; one before the window, because a value holds until the next one. */
export function addPoints(
  points: Points,
  number: number,
  { times, values }: Counter,
  from: number,
  to: number,
  width: number,
): void {
  const pixel = (to - from) / width;
  let at = Math.max(0, firstAtLeast(times, from) - 1);
  while (at < times.length && times[at]! < to) {
    const time = times[at]!;
    const place = Math.floor((time - from) / pixel);
    let low = values[at]!;
    let high = low;
    for (at++; at < times.length && Math.floor((times[at]! - from) / pixel) === place; at++) {
      low = Math.min(low, values[at]!);
      high = Math.max(high, values[at]!);
    }
    addPoint(points, number, time, low, high);
    // The last value of a pixel holds until the next one, not the highest.
    const last = values[at - 1]!;
    if (last < high) addPoint(points, number, times[at - 1]!, last, last);
  }
}

function addPoint(points: Points, counter: number, time: number, low: number, high: number): void {
  points.counter.push(counter);
  points.time.push(time);
  points.low.push(low);
  points.high.push(high);
}
