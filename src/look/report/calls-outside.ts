import { CALLS_OUTSIDE, TIME_OUTSIDE } from '../../spans/read/loop-curves.js';
import type { Report } from './report-shape.js';
import type { RowSelection } from './selection.js';

/** The calls of libraries outside of spans, of the seconds that overlap the window. */
export function callsOutside({ index, window: { from, to } }: RowSelection): Report['outside'] {
  const sumOf = (wanted: string): number => {
    let sum = 0;
    for (const counter of index.counters) {
      if (counter.name !== wanted) continue;
      // Points of other curves are made when they are asked for.
      const { times, values } = counter;
      for (let at = 0; at + 1 < times.length; at++) {
        if (times[at + 1]! > from && times[at]! < to) sum += values[at]!;
      }
    }
    return sum;
  };
  return { count: sumOf(CALLS_OUTSIDE), time: sumOf(TIME_OUTSIDE) };
}
