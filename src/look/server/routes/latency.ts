import { failedOf } from '../../../rows/row-flags.js';
import { LatencyHistogram } from '../../index/latency-histogram.js';
import { rowsByPart } from '../../index/parts/order-rows.js';
import { inPieces, Turns } from '../../index/turns.js';
import type { LatencyColumns, LatencyMeta } from '../../wire/view-answers.js';
import type { Route } from '../route.js';
import { chosenRows, conditionOf } from '../rows/chosen-rows.js';

/** Lines an octave. */
const LINES = 4;
const STEP = 2 ** (1 / LINES);

/** Of a single column with few spans, p99 is the longest one: percentiles are of stretches. */
const STRETCHES = 20;

/**
 * How many spans began when, and how long they took: `columns` in time, lines by powers of 2^(1/4). Of each column also
 * how many failed, and of each stretch of columns percentiles, which are within 0.4 %.
 */
export const latencyRoute: Route = {
  path: '/data/latency',
  method: 'GET',
  async answer({ recording, query, signal }) {
    const { index } = recording;
    const columns = query.integer('columns', 1, 1024);
    const condition = await conditionOf(index, query);
    const rows = await chosenRows(recording, condition, signal, false);
    const { from = 0, to = Math.max(1, index.length) } = condition;
    const pixel = (to - from) / columns;
    const lines = lineOf(Math.max(1, index.length)) + 1;
    const counts = new Uint32Array(lines * columns);
    const errors = new Uint32Array(columns);
    const stretch = Math.ceil(columns / STRETCHES);
    const durations: (LatencyHistogram | undefined)[] = [];
    const turns = new Turns();
    for (const own of rowsByPart(index.parts, rows)) {
      const { start, duration, flags, offset } = own.part;
      for await (const [first, end] of inPieces(own.from, own.to, turns)) {
        signal.throwIfAborted();
        for (let next = first; next < end; next++) {
          const at = rows[next]! - own.firstRow;
          const column = Math.floor((start[at]! + offset - from) / pixel);
          if (column < 0 || column >= columns) continue;
          counts[Math.min(lines - 1, lineOf(duration[at]!)) * columns + column]!++;
          errors[column]! += failedOf(flags[at]!);
          (durations[Math.floor(column / stretch)] ??= new LatencyHistogram()).add(duration[at]!);
        }
      }
    }
    const shown = shownLines(counts, columns);
    const meta: LatencyMeta = {
      from,
      to,
      columns,
      stretch,
      lines: shown.last - shown.first + 1,
      least: STEP ** shown.first,
      step: STEP,
    };
    const piece = counts.subarray(shown.first * columns, (shown.last + 1) * columns);
    const percentiles = (percent: number): Float64Array =>
      Float64Array.from(
        { length: Math.ceil(columns / stretch) },
        (_, at) => durations[at]?.percentile(percent) ?? 0,
      );
    const found: LatencyColumns = {
      counts: piece.slice(),
      errors,
      p50: percentiles(50),
      p95: percentiles(95),
      p99: percentiles(99),
    };
    return { columns: { ...found }, meta };
  },
};

/** Line 0 is that of 1 ns and less. */
function lineOf(duration: number): number {
  return duration <= 1 ? 0 : Math.floor(Math.log2(duration) * LINES);
}

/**
 * The lines from the first to the last that has spans. Those of line 0 count on the first: a span of no duration would
 * leave most of the map empty.
 */
function shownLines(counts: Uint32Array, columns: number): { first: number; last: number } {
  const last = Math.max(0, Math.floor(counts.findLastIndex((count) => count > 0) / columns));
  const cell = counts.findIndex((count, at) => count > 0 && at >= columns);
  if (cell === -1) return { first: 0, last };
  const first = Math.floor(cell / columns);
  for (let column = 0; column < columns; column++) {
    counts[first * columns + column]! += counts[column]!;
  }
  return { first, last };
}
