import { addToList } from '../../../core/map-entries.js';
import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { isMethod } from '../names/request-name.js';
import type { CalleeName } from '../shape/report-shape.js';
import type { TreeSpan } from '../shape/trace-shape.js';
import type { SpanKind } from '../../../spans/layout.js';
import { POOLS } from '../../../spans/read/pool-names.js';

/** So many spans above a call may have it alone, as a span of an ORM has its query. */
const MOST_LIFTS = 3;
/** Calls in a row of which this share of the time overlaps another one ran at the same time. */
const MOST_OVERLAP = 0.2;
/** From so many calls of one target on, of which the first two failed, it was retried. */
const RETRIED = 3;

/** What one request asked of one callee. */
export interface CallsOfRequest extends CalleeName {
  kind: SpanKind;
  /** The service whose requests these became; null: it is not recorded. */
  reached: string | null;
  durations: number[];
  /** The most calls below one parent, one after the other, and their ns. */
  inRow: number;
  inRowTime: number;
  /** Below one parent, the first two failed and another followed. */
  isRetried: boolean;
}

/** A request that was looked at. Times are ns of the index. */
export interface SampledRequest {
  row: number;
  start: number;
  duration: number;
  /** How many requests of its route it is for. */
  weight: number;
  calls: CallsOfRequest[];
  /** Ns of the critical path by what took them: the request's own time is not there. */
  waits: Map<string, number>;
  /** Ns in which it waited for a connection of a pool, by the pool's name. */
  pools: Map<string, number>;
}

/** @param rows of the request, which is the first, and of what its process did within it; then others of its trace. */
export function profileOf(
  index: LookIndex,
  rows: readonly number[],
  own: number,
  spans: readonly TreeSpan[],
  waited: Float64Array,
  weight: number,
): SampledRequest {
  const { start, end, service } = spans[0]!;
  const pools = new Map<string, number>();
  const calls = new Map<string, number[]>();
  const targets = new Map<string, string>();
  const isOwn = ownSpans(index, rows.slice(0, own), spans);
  for (let at = 1; at < own; at++) {
    const span = spans[at]!;
    if (!isOwn(at)) continue;
    if (POOLS.has(span.name)) {
      pools.set(span.name, (pools.get(span.name) ?? 0) + span.end - span.start);
      continue;
    }
    const row = rowAt(index, rows[at]!);
    if (!row.isCall && row.kind !== 'producer') continue;
    if (span.target !== null) targets.set(span.name, span.target);
    // Not every call's record was read for whom it asked.
    const target = span.target ?? (isMethod(span.name) ? (targets.get(span.name) ?? '') : '');
    const key = [span.name, span.system, target].join('\n');
    addToList(calls, key, at);
  }
  const waits = new Map<string, number>();
  const pauses = spans.slice(rows.length);
  const reached = new Map<number, string>();
  for (let at = 1; at < rows.length; at++) {
    const { parent, service: its } = spans[at]!;
    if (its !== null && parent > 0 && rowAt(index, rows[at]!).isRequest) reached.set(parent, its);
  }
  for (let at = 1; at < spans.length; at++) {
    const time = waited[at]!;
    const span = spans[at]!;
    if (time === 0 || span.kind !== 'span') continue;
    const isElsewhere = span.service !== null && span.service !== service;
    const name = isElsewhere ? span.service! : span.target === null ? span.name : span.target;
    waits.set(name, (waits.get(name) ?? 0) + time);
  }
  return {
    row: rows[0]!,
    start,
    duration: end - start,
    weight,
    calls: [...calls.values()].map((each) => ({
      kind: rowAt(index, rows[each[0]!]!).kind,
      ...callsOf(each, spans, pauses, reached),
    })),
    waits,
    pools,
  };
}

/** Whether a span is below the request, and below no other one: a process may ask itself. */
function ownSpans(
  index: LookIndex,
  rows: readonly number[],
  spans: readonly TreeSpan[],
): (at: number) => boolean {
  const known: (boolean | undefined)[] = [true];
  return (at) => {
    const path: number[] = [];
    let next = at;
    while (next >= 0 && next < rows.length && known[next] === undefined) {
      // A circle of parents ends here.
      known[next] = false;
      path.push(next);
      if (rowAt(index, rows[next]!).isRequest) break;
      next = spans[next]!.parent;
    }
    const is = known[next] === true;
    for (const each of path) known[each] = is;
    return is;
  };
}

function callsOf(
  all: readonly number[],
  spans: readonly TreeSpan[],
  pauses: readonly TreeSpan[],
  services: ReadonlyMap<number, string>,
): Omit<CallsOfRequest, 'kind'> {
  const { name, system } = spans[all[0]!]!;
  const target = all.map((at) => spans[at]!.target).find((each) => each !== null) ?? null;
  const reached = all.map((at) => services.get(at)).find((each) => each !== undefined) ?? null;
  const durations = all.map((at) => spans[at]!.end - spans[at]!.start);
  const found = {
    name,
    system,
    target,
    reached,
    durations,
    inRow: 0,
    inRowTime: 0,
    isRetried: false,
  };
  if (all.length < RETRIED) return found;
  for (const siblings of siblingsOf(all, spans)) {
    const { count, time } = runOf(siblings, spans, pauses);
    if (count > found.inRow) [found.inRow, found.inRowTime] = [count, time];
    const isFailed = (at: number | undefined) => at !== undefined && spans[at]!.status === 'error';
    found.isRetried ||=
      siblings.length >= RETRIED && isFailed(siblings[0]) && isFailed(siblings[1]);
  }
  return found;
}

/** Calls by the span that made them, in order of start; spans that each have one call alone are passed over. */
function siblingsOf(all: readonly number[], spans: readonly TreeSpan[]): Iterable<number[]> {
  const makers = new Map(all.map((at) => [at, spans[at]!.parent]));
  let byMaker = new Map<number, number[]>();
  for (let lift = 0; lift <= MOST_LIFTS; lift++) {
    byMaker = new Map();
    for (const at of all) addToList(byMaker, makers.get(at)!, at);
    for (const [maker, below] of byMaker) {
      if (below.length > 1 || maker <= 0 || maker >= spans.length) continue;
      makers.set(below[0]!, spans[maker]!.parent);
    }
  }
  for (const siblings of byMaker.values()) {
    siblings.sort((a, b) => spans[a]!.start - spans[b]!.start);
  }
  return byMaker.values();
}

/**
 * How many calls ran one after the other, and for how long without what blocked them, as the table of routes counts;
 * none if they ran at the same time.
 */
function runOf(
  siblings: readonly number[],
  spans: readonly TreeSpan[],
  pauses: readonly TreeSpan[],
): { count: number; time: number } {
  let [sum, covered, until] = [0, 0, -Infinity];
  for (const at of siblings) {
    const { start, end } = spans[at]!;
    sum += end - start;
    covered += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  const isInRow = sum - covered <= MOST_OVERLAP * sum;
  if (!isInRow) return { count: 0, time: 0 };
  const calls = new Set(siblings);
  const own = pauses.filter(({ parent }) => calls.has(parent));
  const paused = own.reduce((time, { start, end }) => time + end - start, 0);
  return { count: siblings.length, time: Math.max(0, covered - paused) };
}
