import { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
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
import type { SlowTrace } from '../shape/trace-shape.js';
import type { RowSelection } from '../measures/selection.js';
import { describeTrace } from '../trees/one-trace.js';
import type { Steps } from '../../index/turns.js';

/** A trace can have several long spans: candidates for each trace that is wanted. */
const CANDIDATES = 16;
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
    const { trace: slow } = describeTrace(index, row, { interruptions, called, blocked });
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
