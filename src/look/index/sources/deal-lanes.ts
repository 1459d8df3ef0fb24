import { Lanes } from './lanes.js';

/** Columns that lanes are made of: see `PartColumns`. */
export interface LaneColumns {
  start: Float64Array;
  duration: Float64Array;
  /** Numbers within the part. */
  track: Uint32Array;
  parent: Int32Array;
  flags: Uint8Array;
  /** To be filled. */
  lane: Uint16Array;
}

/** A part whose rows are given to lanes. */
export interface LanePart {
  count: number;
  /** The start of its first row. */
  firstStart: number;
  /** Numbers of its tracks within the source. */
  tracks: Uint32Array;
  /** Reads its columns, when its first row is to be dealt. */
  columns(): LaneColumns;
}

/** A part all of whose rows have their lanes. */
interface LanedPart extends LaneColumns {
  number: number;
}

interface OpenPart extends LanedPart {
  tracks: Uint32Array;
  count: number;
  /** Rows that have a lane. */
  at: number;
}

/**
 * Gives the rows of a source's parts to the lanes of their tracks, in order of start over all parts. Yields
 * each part as soon as it is complete. Only parts that overlap in time are in memory at once.
 *
 * @param lanes by number of the track; those that are not there are made.
 */
export function* dealLanes(
  parts: readonly LanePart[],
  lanes: Map<number, Lanes>,
): Generator<LanedPart, void> {
  const waiting = [...parts.entries()].sort(([, a], [, b]) => b.firstStart - a.firstStart);
  const open: OpenPart[] = [];
  for (;;) {
    const next = waiting.at(-1);
    let first: OpenPart | undefined;
    let limit = next?.[1].firstStart ?? Infinity;
    for (const each of open) {
      const start = each.start[each.at]!;
      if (first === undefined || start < first.start[first.at]!) {
        if (first !== undefined) limit = Math.min(limit, first.start[first.at]!);
        first = each;
      } else {
        limit = Math.min(limit, start);
      }
    }
    if (next !== undefined && (first === undefined || limit <= first.start[first.at]!)) {
      const [number, part] = next;
      const { count, tracks } = part;
      waiting.pop();
      const columns = part.columns();
      noteDepths(columns, count);
      open.push({ ...columns, number, tracks, count, at: 0 });
    } else if (first !== undefined) {
      dealUntil(first, limit, lanes);
    } else {
      return;
    }
    for (let i = open.length - 1; i >= 0; i--) {
      if (open[i]!.at === open[i]!.count) yield* open.splice(i, 1);
    }
  }
}

/** Notes as the lane of each row how many levels of descendants it has below it. */
function noteDepths({ parent, track, lane }: LaneColumns, count: number): void {
  lane.fill(0, 0, count);
  for (let row = count - 1; row >= 0; row--) {
    const above = parent[row]!;
    if (above < 0 || above >= row || track[above] !== track[row]) continue;
    lane[above] = Math.max(lane[above]!, lane[row]! + 1);
  }
}

/** Deals the rows that start at `limit` at the latest. */
function dealUntil(part: OpenPart, limit: number, lanes: Map<number, Lanes>): void {
  const { start, duration, track, tracks, parent, count, lane } = part;
  const ofTracks = Array.from(tracks, (number) => {
    const known = lanes.get(number) ?? new Lanes();
    lanes.set(number, known);
    return known;
  });
  let row = part.at;
  for (; row < count && start[row]! <= limit; row++) {
    const number = track[row]!;
    const above = parent[row]!;
    const least = above >= 0 && above < row && track[above] === number ? lane[above]! + 1 : 0;
    const from = start[row]!;
    // An instant takes its lane, too: rows at one moment would lie upon each other.
    lane[row] = ofTracks[number]!.take(from, from + duration[row]!, least, lane[row]!);
  }
  part.at = row;
}
