import { LatencyHistogram } from '../../index/latency-histogram.js';
import { isError } from '../../index/index-row.js';
import type { Counter } from '../../index/look-index.js';
import { HEAP_USED, LOOP_BUSY_CURVE } from '../../../spans/read/loop-curves.js';
import type { RowSelection } from '../measures/selection.js';
import type { ThreadCurve, Timeline } from '../shape/report-shape.js';
import { limitOfHeap, threadOfCounter } from '../threads/memory.js';
import type { Steps } from '../../index/turns.js';
import type { Grouping } from './groups.js';

const BUCKETS = 120;
/** Threads whose curves are reported: those with the highest ones. */
const MOST_CURVES = 6;

/** Which of the equal pieces of the window a time is in. */
export function pieceOf(time: number, { window, length }: RowSelection): number {
  const piece = Math.floor(((time - window.from) / length) * BUCKETS);
  return Math.min(Math.max(piece, 0), BUCKETS - 1);
}

/**
 * The spans of the groups by the time of their start, and loops and heaps.
 *
 * @param refused by piece: requests that were answered with 4xx.
 */
export function* timelineOf(
  selection: RowSelection,
  grouping: Grouping,
  refused: readonly number[],
): Steps<Timeline> {
  const count = new Array<number>(BUCKETS).fill(0);
  const errors = new Array<number>(BUCKETS).fill(0);
  const durations: LatencyHistogram[] = [];
  for (const part of selection.index.parts) {
    yield;
    const { rows } = grouping.rowsOf(part);
    const { flags, start, duration, offset } = part;
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      const piece = pieceOf(start[at]! + offset, selection);
      count[piece]!++;
      if (isError(flags[at]!)) errors[piece]!++;
      (durations[piece] ??= new LatencyHistogram()).add(duration[at]!);
    }
  }
  const percentiles = (percent: number): (number | null)[] =>
    count.map((_, piece) => durations[piece]?.percentile(percent) ?? null);
  return {
    width: selection.length / BUCKETS,
    count,
    errors,
    refused: count.map((all, piece) => Math.min(refused[piece] ?? 0, all - errors[piece]!)),
    p50: percentiles(50),
    p95: percentiles(95),
    p99: percentiles(99),
    loops: curvesOf(selection, LOOP_BUSY_CURVE),
    heaps: curvesOf(selection, HEAP_USED),
  };
}

/** The highest value of each piece, of the curves of a name. */
function curvesOf(selection: RowSelection, name: string): ThreadCurve[] {
  const { index } = selection;
  const curves = selection
    .curves(name)
    .map((counter) => ({
      ...threadOfCounter(index, counter),
      values: valuesOf(selection, counter),
      limit: name === HEAP_USED ? limitOfHeap(index, counter) : null,
    }))
    .filter(({ values }) => values.some((value) => value !== null));
  const highest = ({ values }: ThreadCurve): number => Math.max(...values.map((each) => each ?? 0));
  return curves.sort((a, b) => highest(b) - highest(a)).slice(0, MOST_CURVES);
}

function valuesOf(selection: RowSelection, { times, values }: Counter): (number | null)[] {
  const { from, to } = selection.window;
  const highest = new Array<number | null>(BUCKETS).fill(null);
  for (let at = 0; at < times.length; at++) {
    const [begin, end] = [times[at]!, times[at + 1] ?? times[at]!];
    if (begin >= to || end < from) continue;
    for (let piece = pieceOf(begin, selection); piece <= pieceOf(end, selection); piece++) {
      highest[piece] = Math.max(highest[piece] ?? 0, values[at]!);
    }
  }
  return highest;
}
