import { isError } from '../../index/index-row.js';
import type { GroupTally, Grouping } from './groups.js';
import type { GroupPicture, HeatMap, Timeline } from '../shape/report-shape.js';
import type { RowSelection } from '../measures/selection.js';
import type { Steps } from '../../index/turns.js';

const TIMELINE_BUCKETS = 120;
const HEAT_COLUMNS = 96;
/** Rows of a heat map, if an octave has at least two of them. */
const HEAT_ROWS = 40;
/** Octaves of a heat map. */
const MAX_OCTAVES = 24;

/** Which of `count` equal pieces of the window a time is in. */
function pieceOf(time: number, { window, length }: RowSelection, count: number): number {
  const piece = Math.floor(((time - window.from) / length) * count);
  return Math.min(Math.max(piece, 0), count - 1);
}

/** Counts the spans of the groups by the time of their start. */
export function* timelineOf(selection: RowSelection, grouping: Grouping): Steps<Timeline> {
  const count = new Array<number>(TIMELINE_BUCKETS).fill(0);
  const errors = new Array<number>(TIMELINE_BUCKETS).fill(0);
  for (const part of selection.index.parts) {
    yield;
    const { rows } = grouping.rowsOf(part);
    if (rows.length === 0) continue;
    const { flags, start, offset } = part;
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      const piece = pieceOf(start[at]! + offset, selection, TIMELINE_BUCKETS);
      count[piece]!++;
      if (isError(flags[at]!)) errors[piece]!++;
    }
  }
  return { width: selection.length / TIMELINE_BUCKETS, count, errors };
}

/** A heat map from the group's shortest span to its longest. Beyond its octaves the shortest share a row. */
function emptyHeat({ durations }: GroupTally): HeatMap {
  const most = Math.log2(Math.max(durations.max, 2));
  const shortest = Math.log2(Math.max(durations.percentile(0), 1));
  const bottom = Math.max(Math.floor(shortest), Math.ceil(most) - MAX_OCTAVES);
  const octaves = Math.max(1, Math.ceil(most + 1e-9) - bottom);
  const perOctave = Math.max(2, Math.floor(HEAT_ROWS / octaves));
  const rows = octaves * perOctave;
  const counts = new Uint32Array(rows * HEAT_COLUMNS);
  return { columns: HEAT_COLUMNS, rows, perOctave, least: 2 ** bottom, counts };
}

function heatRow(duration: number, { least, rows, perOctave }: HeatMap): number {
  if (duration <= least) return 0;
  return Math.min(Math.floor(perOctave * Math.log2(duration / least)), rows - 1);
}

/** Histogram and heat map of the first groups. */
export function* groupPictures(
  selection: RowSelection,
  grouping: Grouping,
  most: number,
): Steps<GroupPicture[]> {
  if (most === 0) return [];
  const heats = new Map(grouping.tallies.slice(0, most).map((group) => [group, emptyHeat(group)]));
  for (const part of selection.index.parts) {
    yield;
    const { rows, groups } = grouping.rowsOf(part);
    if (rows.length === 0) continue;
    const { duration, start, offset } = part;
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      const heat = heats.get(grouping.tally(groups[i]!));
      if (heat === undefined) continue;
      const column = pieceOf(start[at]! + offset, selection, heat.columns);
      heat.counts[heatRow(duration[at]!, heat) * heat.columns + column]!++;
    }
  }
  return [...heats].map(([{ durations }, heat]) => ({ histogram: durations.histogram, heat }));
}
