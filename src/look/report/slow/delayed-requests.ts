import { addToList } from '../../../core/map-entries.js';
import { isRequest } from '../../index/index-row.js';
import type { Steps } from '../../index/turns.js';
import { IN_WINDOW, type RowSelection } from '../measures/selection.js';
import { recordedSpan } from '../names/recorded-attributes.js';
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
  from: number;
  to: number;
  /** The row of the request whose code ran; undefined: it was not kept. */
  causer: number | undefined;
  isKnown: boolean;
}

/** By number of the code: how many requests of each route its stalls delayed. They were open on the thread meanwhile. */
export function* delayedRequests(
  selection: RowSelection,
  interruptions: InterruptionTally,
  lines: readonly (readonly StallOfLine[])[],
): Steps<NamedCount[][]> {
  const { parts, tracks } = selection.index;
  const found = stallsOf(selection, lines);
  const counts = lines.map(() => new Map<string, number>());
  const byTrack = tracks.map(({ number, kind }) =>
    kind === 'thread'
      ? [...found].find(([track]) => interruptions.isSameThread(track, number))?.[1]
      : undefined,
  );
  const sources = new Set(tracks.filter((_, at) => byTrack[at]).map(({ source }) => source));
  for (const part of parts) {
    yield;
    if (!sources.has(part.source.number)) continue;
    const marks = selection.marksOf(part);
    const { flags, track, start, duration, offset, firstRow, name, route } = part;
    for (let at = 0; at < marks.length; at++) {
      if (!isRequest(flags[at]!) || (marks[at]! & IN_WINDOW) === 0) continue;
      const stalls = byTrack[track[at]!];
      if (stalls === undefined) continue;
      const begin = start[at]! + offset;
      const blocking = linesThatBlocked(stalls, begin, begin + duration[at]!, firstRow + at);
      if (blocking.size === 0) continue;
      const text = nameOf(part, name[at]!, route[at]!);
      for (const line of blocking) {
        const own = counts[line]!;
        if (own.has(text) || own.size < MOST_NAMES) own.set(text, (own.get(text) ?? 0) + 1);
      }
    }
  }
  return counts.map((own) =>
    [...own]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST_LISTED),
  );
}

/** Stalls by one of the tracks of their thread, in their order. */
function stallsOf(
  { index }: RowSelection,
  lines: readonly (readonly StallOfLine[])[],
): Map<number, Stall[]> {
  const found = new Map<number, Stall[]>();
  for (const [line, stalls] of lines.entries()) {
    for (const { row } of stalls) {
      const span = recordedSpan(index, row.row);
      const causer = span && stalledRequest(index, span);
      addToList(found, row.track, {
        ...{ line, from: row.start, to: row.end },
        ...{ causer: causer?.request?.row, isKnown: (causer?.name ?? null) !== null },
      });
    }
  }
  for (const stalls of found.values()) stalls.sort((a, b) => a.to - b.to);
  return found;
}

/** Numbers of the code that delayed a request. */
function linesThatBlocked(
  stalls: readonly Stall[],
  begin: number,
  end: number,
  row: number,
): Set<number> {
  const lines = new Set<number>();
  let [low, high] = [0, stalls.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (stalls[middle]!.to <= begin) low = middle + 1;
    else high = middle;
  }
  for (; low < stalls.length && stalls[low]!.from < end; low++) {
    const { line, from, to, causer, isKnown } = stalls[low]!;
    if (causer === row) continue;
    const open = Math.min(end, to) - Math.max(begin, from);
    // Of those that ended within it, one may have caused it.
    if (end > to || (isKnown && open >= LEAST_SHARE * (to - from))) lines.add(line);
  }
  return lines;
}
