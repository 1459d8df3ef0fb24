import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { inTurns } from '../../index/turns.js';
import { TargetBudget, nameTargets } from '../names/call-target.js';
import { isInterruption } from '../names/interruption-kinds.js';
import { requestPath } from '../names/row-name.js';
import { isoTime } from '../measures/units.js';
import { RowSelection } from '../measures/selection.js';
import type { SlowTrace, TreeRow, TreeSpan } from '../shape/trace-shape.js';
import { InterruptionTally } from '../threads/interruptions.js';
import { BlockedSpans } from './blocked-spans.js';
import { POOLS } from '../../../spans/read/pool-names.js';
import { CalledThreads } from './called-threads.js';
import { holderOf } from './pool-holder.js';
import { traceSpans } from './span-family.js';
import { traceTree } from './trace-tree.js';

/** Rows of the tree that the command prints. */
const MAX_ROWS = 200;
/** Calls of one trace of which it is read whom they have asked. */
const MOST_TARGETS = 500;

/** Waits for pools whose records are read. */
const MOST_WAITS = 25;

/** What kept the threads of a window. */
export interface ThreadPauses {
  interruptions: InterruptionTally;
  called: CalledThreads;
  blocked: BlockedSpans;
}

export interface DescribedTrace {
  trace: SlowTrace;
  /** Rows of the index; the spans in their order, then what blocked them. */
  rows: readonly number[];
  spans: readonly TreeSpan[];
  /** By row of the tree: the longest of the spans that it is for. */
  longest: ReadonlyMap<TreeRow, number>;
}

interface TreeOptions {
  /** Of the tree. */
  maxRows?: number;
  /** Whether the siblings that one row is for have rows below it. */
  unfolds?: boolean;
}

/** Describes the trace of a row, of which the critical path is wanted. */
export function describeTrace(
  index: LookIndex,
  row: number,
  { interruptions, called, blocked }: ThreadPauses,
  { maxRows = MAX_ROWS, unfolds = false }: TreeOptions = {},
): DescribedTrace {
  const { traceId } = rowAt(index, row);
  const { rows, spans, slow, all } = traceSpans(index, row, traceId);
  const unread = Math.max(0, all - spans.length);
  nameTargets(index, rows, spans, new TargetBudget(MOST_TARGETS));
  addInterruptions(index, rows, spans, interruptions);
  addHolders(index, rows, spans);
  called.addPauses(rows, spans);
  blocked.addTo(rows, spans);
  const tree = traceTree(spans, slow, maxRows, unfolds);
  const { name, service, start, end } = spans[slow]!;
  const lost = interruptions.overlap(rowAt(index, row).track, start, end);
  const trace: SlowTrace = {
    traceId,
    name,
    path: requestPath(index, row),
    service,
    start: isoTime(index.epoch, start),
    duration: end - start,
    spans: all,
    stalls: lost.stall,
    collections: lost.collection,
    waitedFor: tree.waitedFor,
    delayedBy: null,
    rows: tree.rows,
    omitted: tree.omitted + unread,
  };
  return { trace, rows, spans, longest: tree.longest };
}

/** Says who had the connections that spans waited for. */
function addHolders(index: LookIndex, rows: readonly number[], spans: readonly TreeSpan[]): void {
  const waits = spans.flatMap((span, at) =>
    POOLS.has(span.name) ? [{ span, row: rows[at]! }] : [],
  );
  waits.sort((a, b) => b.span.end - b.span.start - (a.span.end - a.span.start));
  for (const { span, row } of waits.slice(0, MOST_WAITS)) span.heldBy = holderOf(index, row);
}

/** Says of the requests among some spans how long their threads did not work meanwhile. */
function addInterruptions(
  index: LookIndex,
  rows: readonly number[],
  spans: readonly TreeSpan[],
  interruptions: InterruptionTally,
): void {
  if (interruptions.isEmpty) return;
  for (const [i, row] of rows.entries()) {
    const { isRequest, track } = rowAt(index, row);
    if (!isRequest) continue;
    const span = spans[i]!;
    const { stall, collection } = interruptions.overlap(track, span.start, span.end);
    span.stalls = stall;
    span.collections = collection;
  }
}

/** A trace by itself, with all that is needed to look further. */
export interface OneTrace extends DescribedTrace {
  /** The row that waited. */
  top: number;
  interruptions: InterruptionTally;
}

/** The trace of a row by itself: only its time is looked at. */
export async function oneTrace(
  index: LookIndex,
  row: number,
  options?: TreeOptions,
): Promise<OneTrace> {
  const { traceId } = rowAt(index, row);
  const all = traceId === null ? [row] : index.rowsOfTrace(traceId);
  let [from, to] = [Infinity, 0];
  for (const each of all) {
    const { start, end } = rowAt(index, each);
    from = Math.min(from, start);
    to = Math.max(to, end);
  }
  const selection = await RowSelection.of(index, { from, to });
  const interruptions = await inTurns(InterruptionTally.of(selection));
  const called = await inTurns(CalledThreads.of(selection, interruptions));
  const blocked = new BlockedSpans(index, interruptions);
  const top = topOf(index, all, row);
  const described = describeTrace(index, top, { interruptions, called, blocked }, options);
  return { ...described, top, interruptions };
}

/** The longest request of a trace, or else its longest span. */
function topOf(index: LookIndex, rows: readonly number[], otherwise: number): number {
  let [top, rank, longest] = [otherwise, -1, -1];
  for (const row of rows) {
    const own = rowAt(index, row);
    const { duration, isInstant } = own;
    const ownRank = own.isRequest ? 2 : isInstant || isInterruption(own.name) ? 0 : 1;
    if (ownRank < rank || (ownRank === rank && duration <= longest)) continue;
    [top, rank, longest] = [row, ownRank, duration];
  }
  return top;
}
