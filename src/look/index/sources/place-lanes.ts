import type { IndexedPart } from '../parts/indexed-part.js';
import { Lanes } from './lanes.js';

/**
 * Gives the rows of a source's parts to the lanes of their tracks, in order of start over all parts.
 *
 * @param lanes by number of the track; those that are not there are made.
 */
export function placeLanes(
  parts: readonly Pick<IndexedPart, 'start' | 'duration' | 'track' | 'stored' | 'count'>[],
  lanes: Map<number, Lanes>,
): Uint16Array[] {
  const columns = parts.map((part) => {
    const { start, duration, track, count } = part;
    const parent = part.stored.column('parent');
    return { start, duration, track, parent, count, at: 0, lane: new Uint16Array(count) };
  });
  for (;;) {
    let first: (typeof columns)[number] | undefined;
    let limit = Infinity;
    for (const column of columns) {
      if (column.at === column.count) continue;
      const start = column.start[column.at]!;
      if (first === undefined || start < first.start[first.at]!) {
        if (first !== undefined) limit = Math.min(limit, first.start[first.at]!);
        first = column;
      } else {
        limit = Math.min(limit, start);
      }
    }
    if (first === undefined) break;
    placeUntil(first, limit, lanes);
  }
  return columns.map(({ lane }) => lane);
}

interface LaneColumns {
  start: Float64Array;
  duration: Float64Array;
  track: Uint32Array;
  parent: Int32Array;
  count: number;
  at: number;
  lane: Uint16Array;
}

/** Places the rows that start at `limit` at the latest. */
function placeUntil(columns: LaneColumns, limit: number, lanes: Map<number, Lanes>): void {
  const { start, duration, track, parent, count, lane } = columns;
  let lastTrack = -1;
  let ofTrack = new Lanes();
  let row = columns.at;
  for (; row < count && start[row]! <= limit; row++) {
    const number = track[row]!;
    if (number !== lastTrack) {
      lastTrack = number;
      ofTrack = lanes.get(number) ?? new Lanes();
      lanes.set(number, ofTrack);
    }
    const above = parent[row]!;
    const least = above >= 0 && above < row && track[above] === number ? lane[above]! + 1 : 0;
    const from = start[row]!;
    // An instant takes its lane, too: rows at one moment would lie upon each other.
    lane[row] = ofTrack.place(from, from + duration[row]!, least);
  }
  columns.at = row;
}
