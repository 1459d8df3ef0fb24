import { eachColumn, enlarged, type Numbers } from '../../../rows/row-columns.js';
import type { LaneFold, Window } from '../look-index.js';

/** Lanes beyond this one are shown by it, merged. */
const LAST_LANE = 511;
/** Bytes that are kept from one window to the next. */
const MOST_KEPT = 64 << 20;
/** Bit of a count: a row that is shown by itself begins in the pixel, so no run of others passes it. */
const BREAK = 2 ** 31;
/** Bit of a count: a merged row that began earlier covers the pixel, so a run of others passes it. */
const COVER = 2 ** 30;
/** The rest of it: rows that begin in the pixel. */
const COUNT = COVER - 1;
const BYTES_A_PIXEL = 16;

const FIRST_CAPACITY = 1024;

/**
 * Collects the lanes of a window: what is merged in each pixel, and the rows that
 * are wider. One set of arrays serves all windows; a lane takes a slot of it with its first row.
 */
export class LanePixels {
  /** By pixel of each slot: rows merged there, and `BREAK`. */
  #counts = new Uint32Array(0);
  /** Rows merged there that failed. */
  #failed = new Uint32Array(0);
  /** The longest of them and its duration, in turn: both are written at once. Two views of one buffer. */
  #rows = new Int32Array(0);
  #durations = new Float32Array(0);
  /** The slots of a track begin at its base in the table; -1: the track is not shown, or the lane has none. */
  #bases = new Int32Array(0);
  #slots = new Int32Array(0);
  #lastLanes = new Int32Array(0);
  /** By track: rows of this lane and further ones are merged. */
  #mergedLanes = new Int32Array(0);
  #used = 0;
  #width = 0;
  #wide = {
    row: new Int32Array(FIRST_CAPACITY),
    slot: new Int32Array(FIRST_CAPACITY),
    start: new Float64Array(FIRST_CAPACITY),
  };
  #wideCount = 0;
  #runs: Window['merged'] = {
    at: new Uint32Array(FIRST_CAPACITY),
    end: new Uint32Array(FIRST_CAPACITY),
    count: new Uint32Array(FIRST_CAPACITY),
    row: new Int32Array(FIRST_CAPACITY),
    duration: new Float32Array(FIRST_CAPACITY),
    failed: new Uint32Array(FIRST_CAPACITY),
  };
  #runCount = 0;
  #failedRuns: Window['failed'] = {
    at: new Uint32Array(FIRST_CAPACITY),
    end: new Uint32Array(FIRST_CAPACITY),
  };
  #failedCount = 0;

  /**
   * @param laneCounts lanes of every track; `tracks` are those that are shown.
   * @param fold which lanes are merged; undefined: those beyond 511 only.
   */
  begin(
    width: number,
    laneCounts: readonly number[],
    tracks: readonly number[],
    fold: LaneFold | undefined,
  ): void {
    if (this.#counts.length * BYTES_A_PIXEL > MOST_KEPT) {
      this.#counts = new Uint32Array(0);
      this.#failed = new Uint32Array(0);
      this.#setRows(new Int32Array(0));
    }
    this.#width = width;
    this.#used = 0;
    this.#wideCount = 0;
    this.#runCount = 0;
    this.#failedCount = 0;
    if (this.#bases.length < laneCounts.length) {
      this.#bases = new Int32Array(laneCounts.length);
      this.#lastLanes = new Int32Array(laneCounts.length);
      this.#mergedLanes = new Int32Array(laneCounts.length);
    }
    this.#bases.fill(-1);
    let entries = 0;
    for (const track of tracks) {
      if (this.#bases[track] !== -1) continue;
      const lanes = laneCounts[track]!;
      const merged = isFolded(fold, track, lanes) ? Math.min(fold.lanes, LAST_LANE) : LAST_LANE;
      const last = Math.max(0, Math.min(lanes - 1, merged));
      this.#mergedLanes[track] = merged;
      this.#bases[track] = entries;
      this.#lastLanes[track] = last;
      entries += last + 1;
    }
    if (this.#slots.length < entries) this.#slots = new Int32Array(entries);
    this.#slots.fill(-1);
  }

  /** The slot of a lane; -1: its track is not shown. */
  slotOf(track: number, lane: number): number {
    const base = this.#bases[track]!;
    if (base === -1) return -1;
    const last = this.#lastLanes[track]!;
    const entry = base + (lane < last ? lane : last);
    const slot = this.#slots[entry]!;
    return slot === -1 ? this.#addSlot(entry) : slot;
  }

  /** Whether rows of a lane are shown one by one where they are wide. */
  showsRows(track: number, lane: number): boolean {
    return lane < this.#mergedLanes[track]!;
  }

  /** @param failed how many of the `count` rows failed; `row` is the longest of them. */
  merge(
    slot: number,
    pixel: number,
    count: number,
    failed: number,
    row: number,
    duration: number,
  ): void {
    const at = slot * this.#width + pixel;
    const before = this.#counts[at]!;
    if ((before & COUNT) === 0 || duration > this.#durations[2 * at + 1]!) {
      this.#rows[2 * at] = row;
      this.#durations[2 * at + 1] = duration;
    }
    this.#counts[at] = before + count;
    if (failed > 0) this.#failed[at]! += failed;
  }

  /** Merges a row that covers the pixels up to `end`, too. */
  mergeWide(
    slot: number,
    pixel: number,
    end: number,
    failed: number,
    row: number,
    duration: number,
  ): void {
    this.merge(slot, pixel, 1, failed, row, duration);
    const first = slot * this.#width;
    for (let at = first + pixel + 1; at <= first + end; at++) this.#counts[at]! |= COVER;
  }

  /** @param pixel in which the row begins: no run of merged rows passes it. */
  addWide(slot: number, pixel: number, row: number, start: number): void {
    const inPixel = slot * this.#width + pixel;
    if (this.#counts[inPixel]! < BREAK) this.#counts[inPixel]! += BREAK;
    const at = this.#wideCount++;
    if (at === this.#wide.row.length) this.#wide = eachColumn(this.#wide, (each) => enlarged(each));
    this.#wide.row[at] = row;
    this.#wide.slot[at] = slot;
    this.#wide.start[at] = start;
  }

  /** Returns what was collected, by track and lane. */
  windows(tracks: readonly number[], cell: number): Window[] {
    const { ends, rows } = this.#orderedRows();
    const windows: Window[] = [];
    const ranges: { runs: [number, number]; failed: [number, number] }[] = [];
    for (const track of new Set(tracks)) {
      const base = this.#bases[track]!;
      for (let lane = 0; lane <= this.#lastLanes[track]!; lane++) {
        const slot = this.#slots[base + lane]!;
        if (slot === -1) continue;
        const own = rows.subarray(slot === 0 ? 0 : ends[slot - 1]!, ends[slot]);
        const [runs, failed] = [this.#runCount, this.#failedCount];
        this.#addRuns(slot, cell);
        windows.push({ track, lane, rows: own, merged: this.#runs, failed: this.#failedRuns });
        ranges.push({ runs: [runs, this.#runCount], failed: [failed, this.#failedCount] });
      }
    }
    // The next window writes to the columns: its own are copies.
    const copy = (count: number) => (column: Numbers) => column.slice(0, count);
    const allRuns = eachColumn(this.#runs, copy(this.#runCount));
    const allFailed = eachColumn(this.#failedRuns, copy(this.#failedCount));
    for (const [i, { runs, failed }] of ranges.entries()) {
      windows[i]!.merged = eachColumn(allRuns, (column) => column.subarray(...runs));
      windows[i]!.failed = eachColumn(allFailed, (column) => column.subarray(...failed));
    }
    return windows;
  }

  /** Pixels next to each other become one run, up to the next multiple of `cell` pixels. */
  #addRuns(slot: number, cell: number): void {
    const [counts, durations] = [this.#counts, this.#durations];
    let runs = this.#runs;
    const first = slot * this.#width;
    let run = -1;
    let failedRun = -1;
    /** Where the cell ends in which the run began. */
    let limit = 0;
    for (let pixel = 0; pixel < this.#width; pixel++) {
      const at = first + pixel;
      const field = counts[at]!;
      if (field === 0) {
        run = -1;
        failedRun = -1;
        continue;
      }
      const isWhole = field < BREAK;
      const count = field & COUNT;
      if (!isWhole || (count > 0 && pixel >= limit)) run = -1;
      if (count === 0) {
        if (run !== -1) this.#runs.end[run] = pixel + 1;
        failedRun = -1;
        continue;
      }
      const duration = durations[2 * at + 1]!;
      if (run === -1) {
        run = this.#runCount++;
        if (run === runs.end.length) runs = this.#runs = eachColumn(runs, (each) => enlarged(each));
        failedRun = -1;
        limit = pixel - (pixel % cell) + cell;
        runs.at[run] = pixel;
        runs.count[run] = 0;
        runs.failed[run] = 0;
        runs.duration[run] = -1;
      }
      runs.end[run] = pixel + 1;
      runs.count[run]! += count;
      const failed = this.#failed[at]!;
      runs.failed[run]! += failed;
      failedRun = failed === 0 ? -1 : this.#addFailed(failedRun, pixel);
      if (duration > runs.duration[run]!) {
        runs.duration[run] = duration;
        runs.row[run] = this.#rows[2 * at]!;
      }
      if (!isWhole) run = -1;
    }
  }

  /** Adds a pixel to a run of pixels with failed rows; -1: to a new one. @returns the run. */
  #addFailed(run: number, pixel: number): number {
    const at = run === -1 ? this.#failedCount++ : run;
    if (at === this.#failedRuns.end.length) {
      this.#failedRuns = eachColumn(this.#failedRuns, (each) => enlarged(each));
    }
    if (run === -1) this.#failedRuns.at[at] = pixel;
    this.#failedRuns.end[at] = pixel + 1;
    return at;
  }

  /** The wide rows by slot, those of one by start; `ends[slot]` is the number after the last. */
  #orderedRows(): { ends: Uint32Array; rows: Int32Array } {
    const ends = new Uint32Array(this.#used + 1);
    const wide = this.#wide;
    for (let at = 0; at < this.#wideCount; at++) ends[wide.slot[at]! + 1]!++;
    for (let slot = 0; slot < this.#used; slot++) ends[slot + 1]! += ends[slot]!;
    const rows = new Int32Array(this.#wideCount);
    const starts = new Float64Array(this.#wideCount);
    // After this loop, what was the begin of each slot is its end.
    for (let at = 0; at < this.#wideCount; at++) {
      const rank = ends[wide.slot[at]!]!++;
      rows[rank] = wide.row[at]!;
      starts[rank] = wide.start[at]!;
    }
    for (let slot = 0; slot < this.#used; slot++) {
      sortByStart(rows, starts, slot === 0 ? 0 : ends[slot - 1]!, ends[slot]!);
    }
    return { ends, rows };
  }

  #addSlot(entry: number): number {
    const slot = this.#used++;
    this.#slots[entry] = slot;
    const end = this.#used * this.#width;
    if (end > this.#counts.length) {
      const size = Math.max(end, 2 * this.#counts.length);
      this.#counts = enlarged(this.#counts, size);
      this.#failed = enlarged(this.#failed, size);
      this.#setRows(enlarged(this.#rows, 2 * size));
    }
    this.#counts.fill(0, end - this.#width, end);
    this.#failed.fill(0, end - this.#width, end);
    return slot;
  }

  #setRows(rows: Int32Array<ArrayBuffer>): void {
    this.#rows = rows;
    this.#durations = new Float32Array(rows.buffer);
  }
}

/** Whether the lanes of a track beyond those that are shown are one. */
export function isFolded(
  fold: LaneFold | undefined,
  track: number,
  lanes: number,
): fold is LaneFold {
  // One lane alone is shown as it is.
  return fold !== undefined && lanes > fold.lanes + 1 && !fold.open.has(track);
}

/** Rows of one part come in order, so there is seldom something to sort. */
function sortByStart(rows: Int32Array, starts: Float64Array, from: number, to: number): void {
  for (let at = from + 1; at < to; at++) {
    if (starts[at]! >= starts[at - 1]!) continue;
    const order = Array.from({ length: to - from }, (_, each) => from + each);
    order.sort((a, b) => starts[a]! - starts[b]!);
    rows.set(
      Int32Array.from(order, (each) => rows[each]!),
      from,
    );
    return;
  }
}
