import type { Window } from '../index/look-index.js';
import type { BoxColumns } from '../wire/answers.js';
import type { Recording } from './recording.js';

export interface BoxRequest {
  from: number;
  to: number;
  /** Pixels. */
  width: number;
  tracks: readonly number[];
  /** About how many boxes at most. */
  budget: number;
}

/** Merged boxes end at these distances, in pixels: wide enough for a label, short enough to tell when. */
const CELL = 64;
/** Widths in pixels below which rows merge, until the budget is met. */
const THRESHOLDS = [1, 2, 4, 8, 16, 32] as const;

/** What one lane shows, in order of start, before rows merge. */
class LaneItems {
  track = 0;
  lane = 0;
  size = 0;
  start = new Float64Array(1024);
  end = new Float64Array(1024);
  row = new Int32Array(1024);
  count = new Uint32Array(1024);

  add(start: number, end: number, row: number, count: number): void {
    if (this.size === this.row.length) this.#grow();
    const at = this.size++;
    this.start[at] = start;
    this.end[at] = end;
    this.row[at] = row;
    this.count[at] = count;
  }

  #grow(): void {
    for (const column of ['start', 'end'] as const) {
      const larger = new Float64Array(2 * this.size);
      larger.set(this[column]);
      this[column] = larger;
    }
    const row = new Int32Array(2 * this.size);
    row.set(this.row);
    this.row = row;
    const count = new Uint32Array(2 * this.size);
    count.set(this.count);
    this.count = count;
  }
}

/**
 * What a window shows in at most about `budget` boxes. Rows that are narrow and close to each other
 * merge, the more the more there are; a merged box has the row that lasts longest.
 */
export function boxesOf(recording: Recording, request: BoxRequest): BoxColumns {
  const { from, to, width, tracks, budget } = request;
  const { index } = recording;
  const pixel = (to - from) / width;
  const lanes = index
    .windows(from, to, width, tracks)
    .map((window) => itemsOf(recording, window, from, pixel));
  const totalAt = (threshold: number): number =>
    lanes.reduce((sum, lane) => sum + merge(lane, pixel, threshold), 0);
  // The more merges, the fewer boxes: the least threshold that meets the budget, by halving.
  let low = 0;
  let high = THRESHOLDS.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (totalAt(THRESHOLDS[middle]!) <= budget) high = middle;
    else low = middle + 1;
  }
  const threshold = THRESHOLDS[low]!;
  const total = totalAt(threshold);
  const columns: BoxColumns = {
    track: new Uint32Array(total),
    lane: new Uint16Array(total),
    start: new Float64Array(total),
    end: new Float64Array(total),
    row: new Int32Array(total),
    count: new Uint32Array(total),
    name: new Uint32Array(total),
    flags: new Uint8Array(total),
  };
  let at = 0;
  for (const lane of lanes) at += merge(lane, pixel, threshold, columns, at);
  for (let box = 0; box < total; box++) {
    const row = columns.row[box]!;
    const part = index.partOf(row);
    columns.name[box] = recording.names.of(part, part.name[row - part.firstRow]!);
    columns.flags[box] = part.flags[row - part.firstRow]!;
  }
  return columns;
}

/** Rows and merged runs of one lane in order of start. */
function itemsOf(
  { index }: Recording,
  { track, lane, rows, merged }: Window,
  from: number,
  pixel: number,
): LaneItems {
  const items = new LaneItems();
  items.track = track;
  items.lane = lane;
  let next = 0;
  const addMergedBefore = (time: number): void => {
    for (; next < merged.at.length; next++) {
      const start = from + merged.at[next]! * pixel;
      if (start >= time) return;
      items.add(start, start + merged.width[next]! * pixel, merged.row[next]!, merged.count[next]!);
    }
  };
  for (const row of rows) {
    const part = index.partOf(row);
    const start = part.start[row - part.firstRow]! + part.offset;
    addMergedBefore(start);
    items.add(start, start + part.duration[row - part.firstRow]!, row, 1);
  }
  addMergedBefore(Infinity);
  return items;
}

/**
 * Merges what is narrower than `threshold` pixels with its neighbours of the same cell.
 *
 * @param into where the boxes go; without it they are only counted.
 * @returns how many boxes there are.
 */
function merge(
  items: LaneItems,
  pixel: number,
  threshold: number,
  into?: BoxColumns,
  first = 0,
): number {
  // What the index merged is a pixel wide, give or take an error of rounding.
  const narrow = threshold * pixel * 1.01;
  const cell = CELL * pixel;
  const { start: starts, end: ends, row: rows, count: counts } = items;
  let boxes = 0;
  /** The box that may still grow. */
  let start = 0;
  let end = -Infinity;
  let row = -1;
  let longest = -1;
  let count = 0;
  let place = NaN;
  const close = (): void => {
    if (count === 0) return;
    if (into !== undefined) {
      const at = first + boxes;
      into.track[at] = items.track;
      into.lane[at] = items.lane;
      into.start[at] = start;
      into.end[at] = end;
      into.row[at] = row;
      into.count[at] = count;
    }
    boxes += 1;
    count = 0;
  };
  for (let at = 0; at < items.size; at++) {
    const itemStart = starts[at]!;
    const itemEnd = ends[at]!;
    const isNarrow = itemEnd - itemStart < narrow;
    const itemPlace = isNarrow ? Math.floor(itemStart / cell) : NaN;
    // NaN never equals: a wide row has a box of its own.
    if (itemPlace !== place || itemStart - end > narrow) {
      close();
      start = itemStart;
      longest = -1;
      end = -Infinity;
    }
    place = itemPlace;
    if (itemEnd - itemStart > longest) {
      longest = itemEnd - itemStart;
      row = rows[at]!;
    }
    end = Math.max(end, itemEnd);
    count += counts[at]!;
  }
  close();
  return boxes;
}
