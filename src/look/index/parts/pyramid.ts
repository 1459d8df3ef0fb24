import { enlarged } from '../../../rows/row-columns.js';
import { failedOf } from '../../../rows/row-flags.js';

/** Parts with fewer rows are looked at row by row. */
const LEAST_ROWS = 1 << 15;
/** Rows for each cell and wide row of the finest level, at least. */
const GAIN = 8;
/** Buckets are at most 2^62 ns wide. */
const MOST_EXPONENT = 62;
const LANE_BITS = 16;

/**
 * A part at several scales. At the level of exponent k time is cut into buckets of 2^k ns. A cell is
 * what a lane has in a bucket of rows that are shorter than it. Levels are finest first; the cells of level
 * `i` end at `ends[i]`, ordered by bucket.
 */
export interface Pyramid {
  /** Exponent of the finest level; each further one has the next. */
  first: number;
  ends: Uint32Array;
  /** The number of the cell's bucket: its start divided by 2^k. */
  bucket: Float64Array;
  /** Track within the source and lane: see `keyOf`. */
  key: Uint32Array;
  /** Rows that start in the bucket, those of them that failed, and the longest of all. */
  count: Uint32Array;
  failed: Uint32Array;
  row: Uint32Array;
  /** Rows that are not shorter than a bucket of the finest level, in order of start. */
  wide: Uint32Array;
}

/** Times of a pyramid's rows, next to each other because a window needs them all. */
export interface PyramidTimes {
  /** Durations of the rows of the cells, in ns, rounded. */
  longest: Float32Array;
  /** Of the wide rows. */
  start: Float64Array;
  duration: Float64Array;
  key: Uint32Array;
  failed: Uint8Array;
}

/** @param firstTrack number among the tracks of `rows` of the source's first track. */
export function pyramidTimes(
  { row, wide }: Pyramid,
  rows: PyramidRows,
  firstTrack: number,
): PyramidTimes {
  const { start, duration, track, lane, flags } = rows;
  const times: PyramidTimes = {
    longest: new Float32Array(row.length),
    start: new Float64Array(wide.length),
    duration: new Float64Array(wide.length),
    key: new Uint32Array(wide.length),
    failed: new Uint8Array(wide.length),
  };
  for (let cell = 0; cell < row.length; cell++) times.longest[cell] = duration[row[cell]!]!;
  for (let at = 0; at < wide.length; at++) {
    const each = wide[at]!;
    times.start[at] = start[each]!;
    times.duration[at] = duration[each]!;
    times.key[at] = keyOf(track[each]! - firstTrack, lane[each]!);
    times.failed[at] = failedOf(flags[each]!);
  }
  return times;
}

export const keyOf = (track: number, lane: number): number => ((track << LANE_BITS) | lane) >>> 0;
export const trackOfKey = (key: number): number => key >>> LANE_BITS;
export const laneOfKey = (key: number): number => key & ((1 << LANE_BITS) - 1);

/** The columns of a part of which a pyramid is made; tracks are numbers within the source. */
export interface PyramidRows {
  start: Float64Array;
  duration: Float64Array;
  track: Uint32Array;
  lane: Uint16Array;
  flags: Uint8Array;
}

/** Undefined: the part has too few rows, or is nowhere dense. */
export function buildPyramid(rows: PyramidRows): Pyramid | undefined {
  const count = rows.start.length;
  if (count < LEAST_ROWS) return undefined;
  const slots = new KeySlots(rows);
  const cells = new Cells(Math.ceil(count / GAIN) + 1);
  const length = Math.max(1, rows.start[count - 1]! - rows.start[0]!);
  let exponent = Math.max(0, Math.floor(Math.log2((length / count) * slots.count * 2)));
  while (!firstLevel(rows, slots, cells, exponent)) {
    if (++exponent > MOST_EXPONENT) return undefined;
  }
  const wide = rowsFrom(rows.duration, 2 ** exponent);
  const first = exponent;
  const ends = [cells.used];
  const least = Math.min(slots.count * 2, 1024);
  while (exponent < MOST_EXPONENT && cells.used - (ends.at(-2) ?? 0) > least) {
    exponent++;
    nextLevel(rows, slots, cells, wide, exponent, ends.at(-2) ?? 0);
    ends.push(cells.used);
  }
  return { first, ends: Uint32Array.from(ends), wide, ...cells.take() };
}

/** Rows of at least a duration. */
function rowsFrom(duration: Float64Array, least: number): Uint32Array {
  let count = 0;
  for (const value of duration) if (value >= least) count++;
  const rows = new Uint32Array(count);
  for (let row = 0, at = 0; row < duration.length; row++)
    if (duration[row]! >= least) rows[at++] = row;
  return rows;
}

/** Puts the rows into cells; false: there are too many. */
function firstLevel(rows: PyramidRows, slots: KeySlots, cells: Cells, exponent: number): boolean {
  const { start, duration, track, lane, flags } = rows;
  const width = 2 ** exponent;
  const limit = start.length / GAIN;
  let wide = 0;
  cells.used = 0;
  slots.begin();
  for (let row = 0; row < start.length; row++) {
    const length = duration[row]!;
    if (length >= width) {
      wide++;
      if (cells.used + wide > limit) return false;
      continue;
    }
    const key = keyOf(track[row]!, lane[row]!);
    const bucket = Math.floor(start[row]! / width);
    const cell = slots.cellOf(key, bucket, cells);
    if (cell === -1) {
      if (cells.used + wide >= limit) return false;
      slots.set(key, cells.add(bucket, key, 1, failedOf(flags[row]!), row));
    } else {
      cells.count[cell]!++;
      cells.failed[cell]! += failedOf(flags[row]!);
      if (length > duration[cells.row[cell]!]!) cells.row[cell] = row;
    }
  }
  return true;
}

/** Merges the cells from `from` on, and the rows that are narrow now, into those of the next level. */
function nextLevel(
  { start, duration, track, lane, flags }: PyramidRows,
  slots: KeySlots,
  cells: Cells,
  wide: Uint32Array,
  exponent: number,
  from: number,
): void {
  const width = 2 ** exponent;
  const to = cells.used;
  slots.begin();
  const put = (bucket: number, key: number, count: number, failed: number, row: number): void => {
    const cell = slots.cellOf(key, bucket, cells);
    if (cell === -1) {
      slots.set(key, cells.add(bucket, key, count, failed, row));
      return;
    }
    cells.count[cell]! += count;
    cells.failed[cell]! += failed;
    if (duration[row]! > duration[cells.row[cell]!]!) cells.row[cell] = row;
  };
  let next = 0;
  const putWide = (limit: number): void => {
    for (; next < wide.length; next++) {
      const row = wide[next]!;
      const length = duration[row]!;
      if (length >= width || length < width / 2) continue;
      const bucket = Math.floor(start[row]! / width);
      if (bucket > limit) return;
      put(bucket, keyOf(track[row]!, lane[row]!), 1, failedOf(flags[row]!), row);
    }
  };
  for (let cell = from; cell < to; cell++) {
    const bucket = Math.floor(cells.bucket[cell]! / 2);
    putWide(bucket);
    put(bucket, cells.key[cell]!, cells.count[cell]!, cells.failed[cell]!, cells.row[cell]!);
  }
  putWide(Infinity);
}

/** The latest cell of each lane, by key. */
class KeySlots {
  readonly count: number;
  readonly #bases: Uint32Array;
  readonly #cells: Int32Array;

  constructor({ track, lane }: PyramidRows) {
    const lanes: number[] = [];
    for (let row = 0; row < track.length; row++) {
      const number = track[row]!;
      while (lanes.length <= number) lanes.push(0);
      if (lane[row]! >= lanes[number]!) lanes[number] = lane[row]! + 1;
    }
    this.#bases = new Uint32Array(lanes.length);
    let count = 0;
    for (const [i, own] of lanes.entries()) {
      this.#bases[i] = count;
      count += own;
    }
    this.count = count;
    this.#cells = new Int32Array(count);
  }

  begin(): void {
    this.#cells.fill(-1);
  }

  cellOf(key: number, bucket: number, cells: Cells): number {
    const cell = this.#cells[this.#bases[trackOfKey(key)]! + laneOfKey(key)]!;
    return cell !== -1 && cells.bucket[cell] === bucket ? cell : -1;
  }

  set(key: number, cell: number): void {
    this.#cells[this.#bases[trackOfKey(key)]! + laneOfKey(key)] = cell;
  }
}

/** Cells in columns that grow. */
class Cells {
  used = 0;
  bucket: Float64Array;
  key: Uint32Array;
  count: Uint32Array;
  failed: Uint32Array;
  row: Uint32Array;

  constructor(capacity: number) {
    this.bucket = new Float64Array(capacity);
    this.key = new Uint32Array(capacity);
    this.count = new Uint32Array(capacity);
    this.failed = new Uint32Array(capacity);
    this.row = new Uint32Array(capacity);
  }

  add(bucket: number, key: number, count: number, failed: number, row: number): number {
    if (this.used === this.bucket.length) this.#grow();
    this.bucket[this.used] = bucket;
    this.key[this.used] = key;
    this.count[this.used] = count;
    this.failed[this.used] = failed;
    this.row[this.used] = row;
    return this.used++;
  }

  take(): Pick<Pyramid, 'bucket' | 'key' | 'count' | 'failed' | 'row'> {
    const { used } = this;
    return {
      bucket: this.bucket.slice(0, used),
      key: this.key.slice(0, used),
      count: this.count.slice(0, used),
      failed: this.failed.slice(0, used),
      row: this.row.slice(0, used),
    };
  }

  #grow(): void {
    this.bucket = enlarged(this.bucket);
    this.key = enlarged(this.key);
    this.count = enlarged(this.count);
    this.failed = enlarged(this.failed);
    this.row = enlarged(this.row);
  }
}

/** Lanes of a part's rows, and its pyramid unless the part is small. */
export interface PartShape {
  readonly lanes: Uint16Array;
  readonly pyramid: Pyramid | undefined;
  /** Closes the file in which it lies. */
  close?(): void;
}
