import { rowAt } from '../index/index-row.js';
import type { LaneFold, Window } from '../index/look-index.js';
import { STALLS_LANE } from '../wire/answers.js';
import type { BoxColumns } from '../wire/answers.js';
import { foldedStalls, isStall } from './folded-stalls.js';
import { CELL, LaneItems } from './lane-items.js';
import type { TimedRows } from './lane-items.js';
import type { Recording } from './recording.js';

export interface BoxRequest {
  from: number;
  to: number;
  /** Pixels. */
  width: number;
  tracks: readonly number[];
  /** Boxes that a screen shows at most, wherever in the window it is. */
  budget: number;
  /** Size of the screen, in pixels and lanes. */
  screen: { width: number; lanes: number };
  fold?: LaneFold;
}

/** Widths in pixels below which rows merge, until the budget is met. */
const THRESHOLDS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32] as const;

/** A window is answered at once, so all share one. */
const items = new LaneItems();

/**
 * The boxes of a window. Rows that are narrow and close to each other merge, the more the more there are;
 * a merged box has the row that lasts longest. Stalls merge only where they are hardly seen.
 */
export function boxesOf(recording: Recording, request: BoxRequest): BoxColumns {
  const { from, to, width, tracks, fold } = request;
  const { index } = recording;
  const stalls =
    fold === undefined ? [] : foldedStalls(index, { from, to, tracks, fold }, (to - from) / width);
  const windows = index.windows(from, to, width, tracks, CELL, fold);
  // What one looks for in a merged box must not disappear in it.
  const rows: TimedRows = {
    partOf: (row) => index.partOf(row),
    staysAlone(row) {
      const part = index.partOf(row);
      return isStall(part, row - part.firstRow);
    },
  };
  const columns = mergedBoxes(rows, windows, request, stalls.length);
  const total = columns.row.length - stalls.length;
  for (const [at, stall] of stalls.entries()) {
    const box = total + at;
    columns.track[box] = stall.track;
    columns.lane[box] = STALLS_LANE;
    columns.start[box] = stall.start;
    columns.end[box] = stall.end;
    columns.row[box] = stall.row;
    columns.count[box] = stall.count;
  }
  for (let box = 0; box < columns.row.length; box++) {
    const { part, at, flags } = rowAt(index, columns.row[box]!);
    columns.name[box] = recording.names.of(part, part.name[at]!);
    columns.flags[box] = flags;
  }
  return columns;
}

/** Merges what windows have until it meets the budget; their names and flags are not set. After them is room for `more`. */
export function mergedBoxes(
  rows: TimedRows,
  windows: readonly Window[],
  { from, to, width, budget, screen }: BoxRequest,
  more = 0,
): BoxColumns {
  items.fill(rows, windows, from, (to - from) / width);
  const density = new Density(Math.ceil(width / CELL) + 1, items.lanes);
  // The more merges, the fewer boxes: the least threshold that meets the budget, by halving.
  let low = 0;
  let high = THRESHOLDS.length - 1;
  /** By threshold, as far as they are counted. */
  const totals: number[] = [];
  const count = (at: number): number => {
    density.counts.fill(0);
    return (totals[at] = items.countBoxes(THRESHOLDS[at]!, density.counts, density.cells));
  };
  while (low < high) {
    const middle = (low + high) >> 1;
    count(middle);
    if (density.most(Math.ceil(screen.width / CELL), screen.lanes) <= budget) high = middle;
    else low = middle + 1;
  }
  return items.boxes(THRESHOLDS[low]!, totals[low] ?? count(low), more);
}

/** How many boxes begin in each cell of each lane. */
class Density {
  readonly cells: number;
  readonly lanes: number;
  readonly counts: Uint16Array;

  constructor(cells: number, lanes: number) {
    this.cells = cells;
    this.lanes = lanes;
    this.counts = new Uint16Array(cells * lanes);
  }

  /** The most boxes that any screen of so many cells and lanes shows. */
  most(width: number, height: number): number {
    const { cells, lanes, counts } = this;
    /** By cell, over the lanes of the screen. */
    const sums = new Uint32Array(cells);
    let most = 0;
    for (let lane = 0; lane < lanes; lane++) {
      for (let cell = 0; cell < cells; cell++) {
        sums[cell]! += counts[lane * cells + cell]!;
        if (lane >= height) sums[cell]! -= counts[(lane - height) * cells + cell]!;
      }
      if (lane < height - 1 && lane < lanes - 1) continue;
      let shown = 0;
      for (let cell = 0; cell < cells; cell++) {
        shown += sums[cell]!;
        if (cell >= width) shown -= sums[cell - width]!;
        if (shown > most) most = shown;
      }
    }
    return most;
  }
}
