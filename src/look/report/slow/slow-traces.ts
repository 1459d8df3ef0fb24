import { rowAt, IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { TargetBudget, nameTargets } from '../names/call-target.js';
import type { BlockedSpans } from '../trees/blocked-spans.js';
import type { CalledThreads } from '../trees/called-threads.js';
import { spansAround } from './delayed-spans.js';
import type { Interval } from './delayed-spans.js';
import type { Grouping } from '../groups/groups.js';
import { isInterruption } from '../names/interruption-kinds.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import { isoTime } from '../measures/units.js';
import { LongestRows } from '../measures/longest-rows.js';
import type { Report } from '../shape/report-shape.js';
import type { SlowTrace, TreeSpan } from '../shape/trace-shape.js';
import { requestPath } from '../names/row-name.js';
import type { RowSelection } from '../measures/selection.js';
import { traceSpans } from '../trees/span-family.js';
import { traceTree } from '../trees/trace-tree.js';
import type { Steps } from '../../index/turns.js';

/** Rows of one tree. */
const MAX_ROWS = 200;
/** A trace can have several long spans: candidates for each trace that is wanted. */
const CANDIDATES = 16;
/** Calls of one trace of which it is read whom they have asked. */
const MOST_TARGETS = 500;

function slowTrace(
  index: LookIndex,
  row: number,
  traceId: string | null,
  interruptions: InterruptionTally,
  called: CalledThreads,
  blocked: BlockedSpans,
): SlowTrace {
  const { rows, spans, slow, all } = traceSpans(index, row, traceId);
  const unread = Math.max(0, all - spans.length);
  nameTargets(index, rows, spans, new TargetBudget(MOST_TARGETS));
  addInterruptions(index, rows, spans, interruptions);
  called.addPauses(rows, spans);
  blocked.addTo(rows, spans);
  const { rows: tree, omitted, waitedFor } = traceTree(spans, slow, MAX_ROWS);
  const { name, service, start, end } = spans[slow]!;
  const lost = interruptions.overlap(rowAt(index, row).track, start, end);
  return {
    traceId,
    name,
    path: requestPath(index, row),
    service,
    start: isoTime(index.epoch, start),
    duration: end - start,
    spans: all,
    stalls: lost.stall,
    collections: lost.collection,
    waitedFor,
    delayedBy: null,
    rows: tree,
    omitted: omitted + unread,
  };
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

interface NamedInterval extends Interval {
  name: string;
}

/** Traces that a report shows. */
interface SlowTraces extends Pick<Report, 'slowest' | 'slowestOf'> {
  /** The slow span of each. */
  rows: number[];
}

/**
 * The traces with the longest spans of the groups, each once. A stall or a collection has no trace worth a
 * look: if there are no other spans, those are shown that the longest of them have delayed.
 */
export function* slowTraces(
  selection: RowSelection,
  grouping: Grouping,
  interruptions: InterruptionTally,
  called: CalledThreads,
  blocked: BlockedSpans,
  wanted: number,
): Steps<SlowTraces> {
  const { index } = selection;
  const longest = new LongestRows<IndexRow>(CANDIDATES * wanted);
  const interrupting = new LongestRows<NamedInterval>(wanted);
  // Without requests, what is at the top of a trace is what was asked for.
  const isAny = grouping.by === 'route' || grouping.by === 'attribute' || selection.conditional;
  const topsOnly = !isAny;
  for (const part of index.parts) {
    yield;
    const { rows } = grouping.rowsOf(part);
    if (rows.length === 0) continue;
    const { start, duration, offset, name, names, track } = part;
    const parent = topsOnly ? part.parent : undefined;
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      const length = duration[at]!;
      if (!longest.admits(length)) continue;
      if (parent !== undefined && parent[at]! >= 0) continue;
      if (!isInterruption(names.text(name[at]!))) longest.add(length, new IndexRow(part, at));
      else if (interrupting.admits(length)) {
        const begin = start[at]! + offset;
        const text = names.text(name[at]!);
        const end = begin + length;
        interrupting.add(length, { name: text, track: track[at]!, start: begin, end });
      }
    }
  }
  const [known, slowest, rows] = [new Set<string>(), [] as SlowTrace[], [] as number[]];
  const add = ({ row, traceId }: IndexRow): SlowTrace | undefined => {
    const key = traceId ?? `row ${row}`;
    if (known.has(key)) return undefined;
    known.add(key);
    const slow = slowTrace(index, row, traceId, interruptions, called, blocked);
    slowest.push(slow);
    rows.push(row);
    return slow;
  };
  for (const { value } of longest.sorted) {
    if (rows.length === wanted) break;
    add(value);
  }
  const intervals = interrupting.sorted.map(({ value }) => value);
  if (rows.length > 0 || intervals.length === 0) return { slowest, slowestOf: 'spans', rows };
  const around = yield* spansAround(selection, interruptions, called, intervals);
  for (const [i, interval] of intervals.entries()) {
    const { longest: delayed } = around[i]!;
    const trace = delayed && add(delayed);
    if (trace !== undefined) trace.delayedBy = delayOf(index, interruptions, interval);
  }
  return { slowest, slowestOf: 'delayed', rows };
}

function delayOf(
  index: LookIndex,
  interruptions: InterruptionTally,
  { name, track, start, end }: NamedInterval,
): SlowTrace['delayedBy'] {
  const thread = interruptions.threadOf(track);
  return { name, ...thread, start: isoTime(index.epoch, start), duration: end - start };
}
