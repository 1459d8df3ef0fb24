import { entryOf } from '../../../core/map-entries.js';
import { isCallOf, isRequest, rowAt, rowsUpward } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { IN_WINDOW, type RowSelection } from '../measures/selection.js';
import { recordedSpan } from '../names/recorded-attributes.js';
import { requestOf } from '../groups/spans-of-requests.js';
import { nameOf } from '../names/row-name.js';
import type { DelayedRequests, NamedCount, StallLine } from '../shape/thread-shape.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import type { StallOfLine } from '../threads/stall-code.js';
import { stalledRequest } from '../trees/blocked-spans.js';

/** Names that are counted of a line, and those that are named. */
const MOST_NAMES = 1000;
const MOST_LISTED = 20;
/** A request that ended within a stall waited for it if it was open for this share of it. */
const LEAST_SHARE = 0.5;
/** From a request up to one that waited for the same stall. */
const MOST_ANCESTORS = 64;

/** A stall of the code with this number. */
interface Stall {
  line: number;
  /** The row of the request whose code ran; undefined: it was not kept. */
  causer: number | undefined;
  /** `POST /coupon`; null: nobody knows whose code ran. */
  name: string | null;
}

/**
 * By number of the code: whose it was, how many requests of each route its stalls delayed, and for how long. They were
 * open on the thread meanwhile; where nobody knows whose code ran, they waited for a call, too.
 */
export function* delayedRequests(
  selection: RowSelection,
  interruptions: InterruptionTally,
  lines: readonly (readonly StallOfLine[])[],
): Steps<Pick<StallLine, 'ranIn' | 'requests' | 'waited'>[]> {
  const { index } = selection;
  const known = stallsOf(index, lines);
  const hasUnknown = [...known.values()].some(({ name }) => name === null);
  const delayed = lines.map((): Delayed => new Map());
  for (const part of known.size === 0 ? [] : index.parts) {
    yield;
    const marks = selection.marksOf(part);
    const { flags, track, start, duration, offset, firstRow } = part;
    for (let at = 0; at < marks.length; at++) {
      const isCall = !isRequest(flags[at]!);
      if (isCall && !(hasUnknown && isCallOf(flags[at]!))) continue;
      if ((marks[at]! & IN_WINDOW) === 0) continue;
      const begin = start[at]! + offset;
      const end = begin + duration[at]!;
      const stalls = interruptions.stalls(track[at]!, begin, end);
      const row = firstRow + at;
      for (const [line, stall] of stallsThatBlocked(stalls, known, begin, end, row, isCall)) {
        const request = isCall ? requestOf(index, rowAt(index, row)) : row;
        if (request === undefined) continue;
        entryOf(delayed[line]!, request, () => new Map<number, IndexRow>()).set(stall.row, stall);
      }
    }
  }
  return delayed.map((requests, line) => ({
    ranIn: ranIn(line, known),
    requests: byRoute(index, requests),
    waited: timeOf(index, requests),
  }));
}

function ranIn(line: number, known: ReadonlyMap<number, Stall>): NamedCount[] {
  const routes = new Map<string, NamedCount>();
  for (const { line: own, name } of known.values()) {
    if (own === line && name !== null) entryOf(routes, name, () => ({ name, count: 0 })).count += 1;
  }
  return [...routes.values()].sort((a, b) => b.count - a.count).slice(0, MOST_LISTED);
}

/** By the row of a request: the stalls that delayed it, by their row. */
type Delayed = Map<number, Map<number, IndexRow>>;

function byRoute(index: LookIndex, delayed: Delayed): DelayedRequests[] {
  const routes = new Map<string, DelayedRequests>();
  for (const [row, stalls] of delayed) {
    const { part, at, start, end } = rowAt(index, row);
    const name = nameOf(part, part.name[at]!, part.route[at]!);
    if (!routes.has(name) && routes.size >= MOST_NAMES) continue;
    const entry = entryOf(routes, name, () => ({ name, count: 0, unread: 0 }));
    const isUnread = [...stalls.values()].every(
      (stall) =>
        start >= stall.start &&
        Math.min(end, stall.end) - start < LEAST_SHARE * (stall.end - stall.start),
    );
    entry.count += 1;
    if (isUnread) entry.unread += 1;
  }
  return [...routes.values()].sort((a, b) => b.count - a.count).slice(0, MOST_LISTED);
}

/** Ns that requests waited. Those below another one that waited for the same stall count with it. */
function timeOf(index: LookIndex, delayed: Delayed): number {
  let time = 0;
  for (const [row, stalls] of delayed) {
    const { start, end, parent } = rowAt(index, row);
    const above = [...rowsUpward(index, parent, MOST_ANCESTORS)].map((each) =>
      delayed.get(each.row),
    );
    for (const stall of stalls.values()) {
      if (above.some((each) => each?.has(stall.row))) continue;
      time += Math.max(0, Math.min(end, stall.end) - Math.max(start, stall.start));
    }
  }
  return time;
}

/** By row. */
function stallsOf(
  index: LookIndex,
  lines: readonly (readonly StallOfLine[])[],
): Map<number, Stall> {
  const found = new Map<number, Stall>();
  for (const [line, stalls] of lines.entries()) {
    for (const { row } of stalls) {
      const span = recordedSpan(index, row.row);
      const causer = span && stalledRequest(index, span);
      found.set(row.row, { line, causer: causer?.request?.row, name: causer?.name ?? null });
    }
  }
  return found;
}

/** The stalls that delayed a request, or a call where no request is known, and the numbers of their code. */
function* stallsThatBlocked(
  stalls: Iterable<IndexRow>,
  known: ReadonlyMap<number, Stall>,
  begin: number,
  end: number,
  row: number,
  isCall: boolean,
): Generator<[line: number, stall: IndexRow], void> {
  for (const each of stalls) {
    const stall = known.get(each.row);
    const isKnown = stall !== undefined && stall.name !== null;
    if (stall === undefined || stall.causer === row || isKnown === isCall) continue;
    const { start: from, end: to } = each;
    const open = Math.min(end, to) - Math.max(begin, from);
    if ((isKnown && end > to) || open >= LEAST_SHARE * (to - from)) yield [stall.line, each];
  }
}
