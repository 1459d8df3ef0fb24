import { failedOf } from '../../rows/row-flags.js';
import type { IndexPart, Window } from '../index/look-index.js';
import type { BoxColumns } from '../wire/answers.js';

/** Merged boxes end at these distances, in pixels: wide enough for a label, short enough to show when. */
export const CELL = 64;

/** Where rows in windows are looked up by number: rows of the index, or of anything else that lasts. */
export interface TimedRows {
  partOf(row: number): Pick<IndexPart, 'firstRow' | 'offset'> & {
    readonly [column in 'start' | 'duration' | 'flags']: ArrayLike<number>;
  };
  /** Whether a row keeps a box of its own, if it is wide enough to be seen; default: none does. */
  staysAlone?(row: number): boolean;
}

/** Pixels from which a row can keep a box of its own. */
const SEEN = 2;

/** How an item merges: a row that is narrow, a run of pixels always, others never. */
const ROW = 0;
const RUN = 1;
const ALONE = 2;

interface BoxMarks {
  box: number[];
  from: number[];
  to: number[];
}

/** Rows and pixels of the lanes of a window before rows merge: lane by lane, by start. */
export class LaneItems {
  lanes = 0;
  #track = new Uint32Array(0);
  #lane = new Uint16Array(0);
  /** By lane: the number after that of its last item. */
  #ends = new Uint32Array(0);
  #start = new Float64Array(0);
  #end = new Float64Array(0);
  #row = new Int32Array(0);
  /** Of `row`, in ns. A run of pixels is wider. */
  #duration = new Float64Array(0);
  #kind = new Uint8Array(0);
  #count = new Uint32Array(0);
  #failed = new Uint32Array(0);
  /** By item: the end of its stretches in `#marks`, where rows begin that failed; begins and ends in turn. */
  #markEnds = new Uint32Array(0);
  #marks: number[] = [];
  #size = 0;
  #from = 0;
  #pixel = 1;

  /** Forgets what there was. The arrays are kept: most windows have as many items as the last one. */
  fill(index: TimedRows, windows: readonly Window[], from: number, pixel: number): void {
    this.#from = from;
    this.#pixel = pixel;
    this.#size = 0;
    this.#marks = [];
    this.lanes = windows.length;
    const size = windows.reduce((sum, { rows, merged }) => sum + rows.length + merged.at.length, 0);
    this.#makeRoom(size, windows.length);
    for (const [lane, window] of windows.entries()) {
      this.#track[lane] = window.track;
      this.#lane[lane] = window.lane;
      this.#addLane(index, window);
      this.#ends[lane] = this.#size;
    }
  }

  /**
   * How many boxes there are, if what is narrower than `threshold` pixels merges with its neighbours of the
   * same cell.
   *
   * @param counts by lane and cell, `cells` of each lane: boxes that begin there are added.
   * @returns all of them.
   */
  countBoxes(threshold: number, counts: Uint16Array, cells: number): number {
    let total = 0;
    this.#merge(threshold, (lane, start) => {
      total++;
      const cell = Math.floor((start - this.#from) / (CELL * this.#pixel));
      counts[lane * cells + (cell < 0 ? 0 : cell < cells ? cell : cells - 1)]!++;
    });
    return total;
  }

  /**
   * The boxes of a threshold, of which there are `total`; their names and flags are not set. After them is room for
   * `more`.
   */
  boxes(threshold: number, total: number, more: number): BoxColumns {
    const size = total + more;
    const columns: BoxColumns = {
      track: new Uint32Array(size),
      lane: new Uint16Array(size),
      start: new Float64Array(size),
      end: new Float64Array(size),
      row: new Int32Array(size),
      count: new Uint32Array(size),
      name: new Uint32Array(size),
      flags: new Uint8Array(size),
      failed: new Uint32Array(size),
      failedBox: new Uint32Array(0),
      failedFrom: new Float64Array(0),
      failedTo: new Float64Array(0),
    };
    let at = 0;
    const marks: BoxMarks = { box: [], from: [], to: [] };
    this.#merge(threshold, (lane, start, end, row, count, failed, first, last) => {
      columns.track[at] = this.#track[lane]!;
      columns.lane[at] = this.#lane[lane]!;
      columns.start[at] = start;
      columns.end[at] = end;
      columns.row[at] = row;
      columns.count[at] = count;
      columns.failed[at] = failed;
      if (count > 1 && failed > 0) this.#addMarks(marks, at, first, last);
      at++;
    });
    columns.failedBox = Uint32Array.from(marks.box);
    columns.failedFrom = Float64Array.from(marks.from);
    columns.failedTo = Float64Array.from(marks.to);
    return columns;
  }

  #merge(
    threshold: number,
    onBox: (
      lane: number,
      start: number,
      end: number,
      row: number,
      count: number,
      failed: number,
      first: number,
      last: number,
    ) => void,
  ): void {
    const narrow = threshold * this.#pixel;
    const cell = CELL * this.#pixel;
    const from = this.#from;
    const [starts, ends, rows, counts] = [this.#start, this.#end, this.#row, this.#count];
    const [durations, kinds, fails] = [this.#duration, this.#kind, this.#failed];
    let at = 0;
    for (let lane = 0; lane < this.lanes; lane++) {
      /** The box that may still grow. */
      let start = 0;
      let end = -Infinity;
      let row = -1;
      let longest = -1;
      let count = 0;
      let failed = 0;
      let first = at;
      let boxCell = NaN;
      for (const last = this.#ends[lane]!; at < last; at++) {
        const itemStart = starts[at]!;
        const itemEnd = ends[at]!;
        const isNarrow = kinds[at] === RUN || (kinds[at] === ROW && itemEnd - itemStart < narrow);
        // NaN never equals: a wide row has a box of its own.
        const itemCell = isNarrow ? Math.floor((itemStart - from) / cell) : NaN;
        if (itemCell !== boxCell || itemStart - end > narrow) {
          if (count !== 0) onBox(lane, start, end, row, count, failed, first, at);
          first = at;
          start = itemStart;
          end = itemEnd;
          row = rows[at]!;
          longest = durations[at]!;
          count = counts[at]!;
          failed = fails[at]!;
          boxCell = itemCell;
          continue;
        }
        if (durations[at]! > longest) {
          longest = durations[at]!;
          row = rows[at]!;
        }
        if (itemEnd > end) end = itemEnd;
        count += counts[at]!;
        failed += fails[at]!;
      }
      if (count !== 0) onBox(lane, start, end, row, count, failed, first, at);
    }
  }

  /** Rows and runs of one lane in order of start. */
  #addLane(index: TimedRows, { rows, merged, failed }: Window): void {
    const pixel = this.#pixel;
    const from = this.#from;
    const runs = merged.at.length;
    let next = 0;
    let mark = 0;
    for (let i = 0; i <= rows.length; i++) {
      const row = i < rows.length ? rows[i]! : -1;
      const part = row === -1 ? undefined : index.partOf(row);
      const start = part === undefined ? Infinity : part.start[row - part.firstRow]! + part.offset;
      for (; next < runs && from + merged.at[next]! * pixel < start; next++) {
        const end = from + merged.end[next]! * pixel;
        const at = this.#add(from + merged.at[next]! * pixel, end, merged.row[next]!);
        this.#count[at] = merged.count[next]!;
        this.#duration[at] = merged.duration[next]!;
        this.#kind[at] = RUN;
        this.#failed[at] = merged.failed[next]!;
        for (; mark < failed.at.length && failed.at[mark]! < merged.end[next]!; mark++) {
          this.#marks.push(from + failed.at[mark]! * pixel, from + failed.end[mark]! * pixel);
        }
        this.#markEnds[at] = this.#marks.length;
      }
      if (part === undefined) continue;
      const duration = part.duration[row - part.firstRow]!;
      const at = this.#add(start, start + duration, row);
      this.#count[at] = 1;
      this.#duration[at] = duration;
      const isAlone = duration >= SEEN * pixel && index.staysAlone?.(row) === true;
      this.#kind[at] = isAlone ? ALONE : ROW;
      this.#failed[at] = failedOf(part.flags[row - part.firstRow] ?? 0);
      if (this.#failed[at] === 1) this.#marks.push(start, start + pixel);
      this.#markEnds[at] = this.#marks.length;
    }
  }

  /** Marks the failed items from `first` up to `last`; stretches that touch become one mark. */
  #addMarks(marks: BoxMarks, box: number, first: number, last: number): void {
    const own = marks.box.length;
    const to = this.#markEnds[last - 1]!;
    for (let at = first === 0 ? 0 : this.#markEnds[first - 1]!; at < to; at += 2) {
      const before = marks.to.length - 1;
      if (before >= own && this.#marks[at]! <= marks.to[before]!) {
        marks.to[before] = Math.max(marks.to[before]!, this.#marks[at + 1]!);
        continue;
      }
      marks.box.push(box);
      marks.from.push(this.#marks[at]!);
      marks.to.push(this.#marks[at + 1]!);
    }
  }

  #add(start: number, end: number, row: number): number {
    const at = this.#size++;
    this.#start[at] = start;
    this.#end[at] = end;
    this.#row[at] = row;
    return at;
  }

  #makeRoom(items: number, lanes: number): void {
    if (this.#row.length < items) {
      this.#start = new Float64Array(items);
      this.#end = new Float64Array(items);
      this.#row = new Int32Array(items);
      this.#count = new Uint32Array(items);
      this.#failed = new Uint32Array(items);
      this.#markEnds = new Uint32Array(items);
      this.#duration = new Float64Array(items);
      this.#kind = new Uint8Array(items);
    }
    if (this.#ends.length < lanes) {
      this.#track = new Uint32Array(lanes);
      this.#lane = new Uint16Array(lanes);
      this.#ends = new Uint32Array(lanes);
    }
  }
}
