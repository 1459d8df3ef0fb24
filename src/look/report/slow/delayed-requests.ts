import { isCallOf, isRequest, rowAt } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { IN_WINDOW, type RowSelection } from '../measures/selection.js';
import { recordedSpan } from '../names/recorded-attributes.js';
import { requestOf } from '../groups/spans-of-requests.js';
import { nameOf } from '../names/row-name.js';
import type { NamedCount } from '../shape/thread-shape.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import type { StallOfLine } from '../threads/stall-code.js';
import { stalledRequest } from '../trees/blocked-spans.js';

/** Names that are counted of a line, and those that are named. */
const MOST_NAMES = 1000;
const MOST_LISTED = 20;
/** A request that ended within a stall waited for it if it was open for this share of it. */
const LEAST_SHARE = 0.5;

/** A stall of the code with this number. */
interface Stall {
  line: number;
  /** The row of the request whose code ran; undefined: it was not kept. */
  causer: number | undefined;
  isKnown: boolean;
}

/**
 * By number of the code: how many requests of each route its stalls delayed. They were open on the thread meanwhile;
 * where nobody knows whose code ran, they waited for a call, too.
 */
export function* delayedRequests(
  selection: RowSelection,
  interruptions: InterruptionTally,
  lines: readonly (readonly StallOfLine[])[],
): Steps<NamedCount[][]> {
  const known = stallsOf(selection.index, lines);
  const hasUnknown = [...known.values()].some(({ isKnown }) => !isKnown);
  const delayed = lines.map(() => new Set<number>());
  for (const part of known.size === 0 ? [] : selection.index.parts) {
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
      for (const line of linesThatBlocked(stalls, known, begin, end, row, isCall)) {
        const request = isCall ? requestOf(selection.index, rowAt(selection.index, row)) : row;
        if (request !== undefined) delayed[line]!.add(request);
      }
    }
  }
  return delayed.map((requests) => {
    const counts = new Map<string, number>();
    for (const row of requests) {
      const { part, at } = rowAt(selection.index, row);
      const text = nameOf(part, part.name[at]!, part.route[at]!);
      if (counts.has(text) || counts.size < MOST_NAMES)
        counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    return [...counts]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST_LISTED);
  });
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
      const isKnown = (causer?.name ?? null) !== null;
      found.set(row.row, { line, causer: causer?.request?.row, isKnown });
    }
  }
  return found;
}

/** Numbers of the code that delayed a request, or a call where no request is known, by the stalls that overlap it. */
function linesThatBlocked(
  stalls: Iterable<IndexRow>,
  known: ReadonlyMap<number, Stall>,
  begin: number,
  end: number,
  row: number,
  isCall: boolean,
): Set<number> {
  const lines = new Set<number>();
  for (const { row: number, start: from, end: to } of stalls) {
    const stall = known.get(number);
    if (stall === undefined || stall.causer === row || stall.isKnown === isCall) continue;
    const open = Math.min(end, to) - Math.max(begin, from);
    if ((stall.isKnown && end > to) || open >= LEAST_SHARE * (to - from)) lines.add(stall.line);
  }
  return lines;
}
