import { addToList } from '../../../core/map-entries.js';
import { IndexRow, isRequest, rowAt, rowsUpward } from '../../index/index-row.js';
import { UNFINISHED_BIT } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { callTarget } from '../names/call-target.js';
import { handlersOf } from '../names/request-handlers.js';
import type { Handler } from '../names/request-handlers.js';
import { isoTime } from '../measures/units.js';
import { LongestRows } from '../measures/longest-rows.js';
import type { OpenSpan, OpenSpans } from '../shape/trace-shape.js';
import { isMethod } from '../names/request-name.js';
import { requestPath, spanName } from '../names/row-name.js';
import { SPAN } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import type { Steps } from '../../index/turns.js';

/** Spans that are looked at; the others are counted. */
const MAX_LISTED = 100;
/** From a span up to one that is listed. */
const MOST_ANCESTORS = 32;

/** The figures of open spans, and the rows in the index of those that are listed. */
interface FoundOpenSpans {
  open: OpenSpans;
  rows: number[];
}

/** Spans that had not ended when their process did, or that a living process has not ended yet. */
export function* openSpans(selection: RowSelection): Steps<FoundOpenSpans> {
  const { index } = selection;
  let count = 0;
  let requests = 0;
  const oldest = new LongestRows<IndexRow>(MAX_LISTED);
  for (const part of index.parts) {
    yield;
    if (part.unfinished === 0) continue;
    const marks = selection.marksOf(part);
    const { flags } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((flags[at]! & UNFINISHED_BIT) === 0 || (marks[at]! & SPAN) === 0) continue;
      count++;
      if (isRequest(flags[at]!)) requests++;
      const age = ageOf(part, at);
      if (oldest.admits(age)) oldest.add(age, new IndexRow(part, at));
    }
  }
  const found = oldest.sorted.map(({ value }) => value);
  const handlers = yield* handlersOf(index, found.filter(lacksRoute));
  // A request that is named by its handler is listed once.
  const merged = new Set(
    [...handlers.values()].map(({ row, isNamedAlike }) => isNamedAlike && row),
  );
  const asked = callsByItself(index, found);
  const listed = found.filter(({ row }) => !merged.has(row) && !asked.has(row));
  const spans: OpenSpan[] = [];
  const rows: number[] = [];
  for (const { span, depth } of inTree(index, listed)) {
    spans.push(describe(index, span, handlers.get(span.row), depth));
    rows.push(span.row);
  }
  return { open: { count, requests, spans, omitted: count - found.length }, rows };
}

/** Ns for which a span has been open: of a living process, until it was read. */
function ageOf({ source, start, duration, offset }: IndexPart, at: number): number {
  const { until } = source;
  return until === undefined ? duration[at]! : Math.max(duration[at]!, until - start[at]! - offset);
}

function lacksRoute(row: IndexRow): boolean {
  return row.isRequest && isMethod(spanName(row));
}

/** Calls with which a program asks itself, outside of any request: what it asked for is listed. */
function callsByItself(index: LookIndex, found: readonly IndexRow[]): Set<number> {
  const calls = new Set<number>();
  for (const { isRequest: is, parent, service } of found) {
    if (!is || parent < 0) continue;
    const above = rowAt(index, parent);
    if (above.isCall && above.parent < 0 && above.service === service) calls.add(parent);
  }
  return calls;
}

function describe(
  index: LookIndex,
  own: IndexRow,
  handler: Handler | undefined,
  depth: number,
): OpenSpan {
  const { part, at, row } = own;
  const name = own.isRequest ? spanName(own) : own.name;
  return {
    depth,
    name: handler === undefined ? name : `${name} ${handler.route}`,
    path: handler === undefined && lacksRoute(own) ? requestPath(index, row) : null,
    system: own.system,
    target: own.isCall ? callTarget(index, row) : null,
    service: own.service,
    thread: index.tracks[own.track]!.name,
    start: isoTime(index.epoch, own.start),
    age: ageOf(part, at),
    isNow: part.source.until !== undefined,
    isRequest: own.isRequest,
    traceId: own.traceId,
  };
}

/** Each span below the next of its ancestors that is listed too, the oldest first. */
function* inTree(
  index: LookIndex,
  listed: readonly IndexRow[],
): Generator<{ span: IndexRow; depth: number }, void> {
  const rows = new Set(listed.map(({ row }) => row));
  const below = new Map<number | null, IndexRow[]>();
  for (const span of listed) {
    const parent = listedAncestor(index, span.row, rows);
    addToList(below, parent, span);
  }
  const waiting = (below.get(null) ?? []).map((span) => ({ span, depth: 0 }));
  waiting.reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    const { span, depth } = next;
    for (const child of (below.get(span.row) ?? []).toReversed()) {
      waiting.push({ span: child, depth: depth + 1 });
    }
  }
}

function listedAncestor(index: LookIndex, row: number, listed: ReadonlySet<number>): number | null {
  for (const above of rowsUpward(index, rowAt(index, row).parent, MOST_ANCESTORS)) {
    if (listed.has(above.row)) return above.row;
  }
  return null;
}
