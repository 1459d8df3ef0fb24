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

const NO_RUNS: Window['merged'] = {
  at: new Uint32Array(0),
  end: new Uint32Array(0),
  count: new Uint32Array(0),
  row: new Int32Array(0),
  duration: new Float32Array(0),
  failed: new Uint32Array(0),
};
const NO_PIXELS: Window['failed'] = { at: new Uint32Array(0), end: new Uint32Array(0) };

/**
 * What the lanes of a window show while it is collected: by pixel what is merged there, and the rows that
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
  #wideRows = new Int32Array(1024);
  #wideSlots = new Int32Array(1024);
  #wideStarts = new Float64Array(1024);
  #wide = 0;
  #runStarts = new Uint32Array(1024);
  #runEnds = new Uint32Array(1024);
  #runCounts = new Uint32Array(1024);
  #runRows = new Int32Array(1024);
  #runDurations = new Float32Array(1024);
  #runFailed = new Uint32Array(1024);
  #runs = 0;
  #failedStarts = new Uint32Array(1024);
  #failedEnds = new Uint32Array(1024);
  #failedRuns = 0;

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
    this.#wide = 0;
    this.#runs = 0;
    this.#failedRuns = 0;
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
    if (this.#wide === this.#wideRows.length) this.#growWide();
    const at = this.#wide++;
    this.#wideRows[at] = row;
    this.#wideSlots[at] = slot;
    this.#wideStarts[at] = start;
  }

  /** What was collected, by track and lane. */
  windows(tracks: readonly number[], cell: number): Window[] {
    const { ends, rows } = this.#orderedRows();
    const windows: Window[] = [];
    const runEnds: number[] = [];
    const failedEnds: number[] = [];
    for (const track of new Set(tracks)) {
      const base = this.#bases[track]!;
      for (let lane = 0; lane <= this.#lastLanes[track]!; lane++) {
        const slot = this.#slots[base + lane]!;
        if (slot === -1) continue;
        const own = rows.subarray(slot === 0 ? 0 : ends[slot - 1]!, ends[slot]);
        this.#addRuns(slot, cell);
        windows.push({ track, lane, rows: own, merged: NO_RUNS, failed: NO_PIXELS });
        runEnds.push(this.#runs);
        failedEnds.push(this.#failedRuns);
      }
    }
    const all: Window['merged'] = {
      at: this.#runStarts.slice(0, this.#runs),
      end: this.#runEnds.slice(0, this.#runs),
      count: this.#runCounts.slice(0, this.#runs),
      row: this.#runRows.slice(0, this.#runs),
      duration: this.#runDurations.slice(0, this.#runs),
      failed: this.#runFailed.slice(0, this.#runs),
    };
    const failed: Window['failed'] = {
      at: this.#failedStarts.slice(0, this.#failedRuns),
      end: this.#failedEnds.slice(0, this.#failedRuns),
    };
    for (const [i, window] of windows.entries()) {
      const [from, to] = [runEnds[i - 1] ?? 0, runEnds[i]!];
      window.merged = {
        at: all.at.subarray(from, to),
        end: all.end.subarray(from, to),
        count: all.count.subarray(from, to),
        row: all.row.subarray(from, to),
        duration: all.duration.subarray(from, to),
        failed: all.failed.subarray(from, to),
      };
      const [first, last] = [failedEnds[i - 1] ?? 0, failedEnds[i]!];
      window.failed = {
        at: failed.at.subarray(first, last),
        end: failed.end.subarray(first, last),
      };
    }
    return windows;
  }

  /** Pixels next to each other become one run, up to the next multiple of `cell` pixels. */
  #addRuns(slot: number, cell: number): void {
    const [counts, durations] = [this.#counts, this.#durations];
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
        if (run !== -1) this.#runEnds[run] = pixel + 1;
        failedRun = -1;
        continue;
      }
      const duration = durations[2 * at + 1]!;
      if (run === -1) {
        if (this.#runs === this.#runEnds.length) this.#growRuns();
        run = this.#runs++;
        failedRun = -1;
        limit = pixel - (pixel % cell) + cell;
        this.#runStarts[run] = pixel;
        this.#runCounts[run] = 0;
        this.#runFailed[run] = 0;
        this.#runDurations[run] = -1;
      }
      this.#runEnds[run] = pixel + 1;
      this.#runCounts[run]! += count;
      const failed = this.#failed[at]!;
      this.#runFailed[run]! += failed;
      failedRun = failed === 0 ? -1 : this.#addFailed(failedRun, pixel);
      if (duration > this.#runDurations[run]!) {
        this.#runDurations[run] = duration;
        this.#runRows[run] = this.#rows[2 * at]!;
      }
      if (!isWhole) run = -1;
    }
  }

  /** Adds a pixel to a run of pixels with failed rows; -1: to a new one. @returns the run. */
  #addFailed(run: number, pixel: number): number {
    if (run !== -1) {
      this.#failedEnds[run] = pixel + 1;
      return run;
    }
    if (this.#failedRuns === this.#failedEnds.length) {
      this.#failedStarts = enlarged(this.#failedStarts);
      this.#failedEnds = enlarged(this.#failedEnds);
    }
    this.#failedStarts[this.#failedRuns] = pixel;
    this.#failedEnds[this.#failedRuns] = pixel + 1;
    return this.#failedRuns++;
  }

  /** The wide rows by slot, those of one by start; `ends[slot]` is the number after the last. */
  #orderedRows(): { ends: Uint32Array; rows: Int32Array } {
    const ends = new Uint32Array(this.#used + 1);
    for (let at = 0; at < this.#wide; at++) ends[this.#wideSlots[at]! + 1]!++;
    for (let slot = 0; slot < this.#used; slot++) ends[slot + 1]! += ends[slot]!;
    const rows = new Int32Array(this.#wide);
    const starts = new Float64Array(this.#wide);
    // After this loop, what was the begin of each slot is its end.
    for (let at = 0; at < this.#wide; at++) {
      const rank = ends[this.#wideSlots[at]!]!++;
      rows[rank] = this.#wideRows[at]!;
      starts[rank] = this.#wideStarts[at]!;
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

  #growRuns(): void {
    this.#runStarts = enlarged(this.#runStarts);
    this.#runEnds = enlarged(this.#runEnds);
    this.#runCounts = enlarged(this.#runCounts);
    this.#runRows = enlarged(this.#runRows);
    this.#runDurations = enlarged(this.#runDurations);
    this.#runFailed = enlarged(this.#runFailed);
  }

  #growWide(): void {
    this.#wideRows = enlarged(this.#wideRows);
    this.#wideSlots = enlarged(this.#wideSlots);
    this.#wideStarts = enlarged(this.#wideStarts);
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

function enlarged<Numbers extends Uint32Array | Int32Array | Float32Array | Float64Array>(
  numbers: Numbers,
  size = 2 * numbers.length,
): Numbers {
  const larger = new (numbers.constructor as new (size: number) => Numbers)(size);
  larger.set(numbers);
  return larger;
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
