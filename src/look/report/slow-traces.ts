import { NO_TRACE } from '../index/look-index.js';
import type { IndexPart, LookIndex } from '../index/look-index.js';
import type { Grouping } from './groups.js';
import { isInterruption } from './interruptions.js';
import type { InterruptionTally } from './interruptions.js';
import { isoTime } from './iso-time.js';
import { LongestRows } from './longest-rows.js';
import type { SlowTrace } from './report-shape.js';
import { requestPath } from './request-path.js';
import type { RowSelection } from './selection.js';
import { traceSpans } from './span-family.js';
import { traceTree } from './trace-tree.js';
import type { Steps } from '../index/turns.js';

/** Rows of one tree. */
const MAX_ROWS = 200;
/** A trace can have several long spans: candidates for each trace that is wanted. */
const CANDIDATES = 16;

function slowTrace(
  index: LookIndex,
  row: number,
  traceId: string | null,
  interruptions: InterruptionTally,
): SlowTrace {
  const { spans, place, all } = traceSpans(index, row, traceId);
  const { rows: tree, omitted, waitedFor } = traceTree(spans, place, MAX_ROWS);
  const { name, service, start, end } = spans[place]!;
  const part = index.partOf(row);
  const lost = interruptions.overlap(part.track[row - part.firstRow]!, start, end);
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
    rows: tree,
    omitted: omitted + Math.max(0, all - spans.length),
  };
}

/** The traces with the longest spans of the groups, each once. */
export function* slowTraces(
  selection: RowSelection,
  grouping: Grouping,
  interruptions: InterruptionTally,
  wanted: number,
): Steps<SlowTrace[]> {
  const { index } = selection;
  const longest = new LongestRows<{ part: IndexPart; at: number }>(CANDIDATES * wanted);
  // Without requests, what is at the top of a trace is what was asked for.
  const topsOnly = grouping.by !== 'route' && !selection.conditional;
  for (const part of index.parts) {
    yield;
    const { rows } = grouping.rowsOf(part);
    if (rows.length === 0) continue;
    const { duration, name, names } = part;
    const parent = topsOnly ? part.parent : undefined;
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      if (!longest.admits(duration[at]!)) continue;
      if ((parent !== undefined && parent[at]! >= 0) || isInterruption(names.text(name[at]!)))
        continue;
      longest.add(duration[at]!, { part, at });
    }
  }
  const traces = new Map<string, SlowTrace>();
  for (const { value } of longest.sorted) {
    if (traces.size === wanted) break;
    const { part, at } = value;
    const trace = part.trace[at]!;
    const row = part.firstRow + at;
    const traceId = trace === NO_TRACE ? null : part.traceId(trace);
    const key = traceId ?? `row ${row}`;
    if (!traces.has(key)) traces.set(key, slowTrace(index, row, traceId, interruptions));
  }
  return [...traces.values()];
}
