import { spanName } from '../names/row-name.js';
import { rowAt, IndexRow, isCallOf, isRequest } from '../../index/index-row.js';
import { type IndexPart, INSTANT_BIT, type LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { callTarget, TargetBudget } from '../names/call-target.js';
import { stalledRequest } from '../trees/blocked-spans.js';
import type { CalledThreads } from '../trees/called-threads.js';
import { isInterruption } from '../names/interruption-kinds.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import { LongestRows } from '../measures/longest-rows.js';
import { attributesOf, recordedSpan } from '../names/recorded-attributes.js';
import { codeOfStack, STACK } from '../threads/stall-code.js';
import type { LongStall, NamedCount } from '../shape/thread-shape.js';
import { isMethod, nameWithTarget } from '../names/request-name.js';
import { IN_WINDOW, type RowSelection } from '../measures/selection.js';
import { isoTime } from '../measures/units.js';

/** Names that are listed, and names that are counted. */
const MOST_LISTED = 5;
const MOST_NAMES = 1000;
/** Records that are read for whom calls have asked. */
const MOST_TARGETS = 200;
/** A span that takes this share of a pause may have caused it. */
const LEAST_SHARE = 0.5;

/** A stall or a collection of a track's thread. Ns of the index. */
export interface Interval {
  track: number;
  start: number;
  end: number;
}

/** Finds for each interval which spans ran on its thread, and which it delayed. In their order. */
export function* spansAround(
  selection: RowSelection,
  interruptions: InterruptionTally,
  called: CalledThreads,
  intervals: readonly Interval[],
): Steps<SpansAround[]> {
  const names = new SpanNames(selection.index);
  const around = intervals.map((interval) => new SpansAround(interval, names));
  if (around.length === 0) return around;
  const { tracks, parts } = selection.index;
  const byTrack = tracks.map(({ number }) =>
    inOrder(around.filter(({ interval }) => interruptions.isSameThread(number, interval.track))),
  );
  const isWanted = Uint8Array.from(tracks, ({ kind, number }) =>
    kind === 'thread' && byTrack[number]!.all.length > 0 ? 1 : 0,
  );
  const sources = new Set(tracks.filter((_, at) => isWanted[at] === 1).map(({ source }) => source));
  for (const part of parts) {
    yield;
    if (!sources.has(part.source.number)) continue;
    const marks = selection.marksOf(part);
    const { track, start, duration, offset, flags, name } = part;
    const interrupts = interruptingNames(part);
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & IN_WINDOW) === 0 || isWanted[track[at]!] === 0) continue;
      const { all, last } = byTrack[track[at]!]!;
      const begin = start[at]! + offset;
      const end = begin + duration[at]!;
      if (begin >= last || end <= all[0]!.interval.start) continue;
      if ((flags[at]! & INSTANT_BIT) !== 0 || interrupts.has(name[at]!)) continue;
      for (const each of all) {
        if (each.interval.start >= end) break;
        if (each.interval.end > begin) each.add(part, at, begin, end);
      }
    }
  }
  for (const { row, track, from, to } of called.unreadRequests()) {
    for (const each of byTrack[track]!.all) {
      if (each.interval.start >= to) break;
      if (each.interval.end > from) each.addUnread(rowAt(selection.index, row));
    }
  }
  return around;
}

function inOrder(all: SpansAround[]): { all: SpansAround[]; last: number } {
  all.sort((a, b) => a.interval.start - b.interval.start);
  const last = all.reduce((latest, { interval }) => Math.max(latest, interval.end), -Infinity);
  return { all, last };
}

function interruptingNames({ names }: IndexPart): Set<number> {
  const found = new Set<number>();
  for (let number = 0; number < names.count; number++) {
    if (isInterruption(names.text(number))) found.add(number);
  }
  return found;
}

/** Names of spans: of a call that is named by its method, whom it asked, too. */
class SpanNames {
  readonly #index: LookIndex;
  readonly #targets = new TargetBudget(MOST_TARGETS);

  constructor(index: LookIndex) {
    this.#index = index;
  }

  of(part: IndexPart, at: number): string {
    const row = new IndexRow(part, at);
    const name = spanName(row);
    if (!isMethod(name) || !row.isCall || !this.#targets.take()) return name;
    return nameWithTarget({ name, system: row.system, target: callTarget(this.#index, row.row) });
  }
}

/** The spans around one interval. */
class SpansAround {
  readonly interval: Interval;
  /** Those that began within it and took most of it, and those that ended in it after most of it. By start. */
  readonly #began = new LongestRows<IndexRow>(MOST_LISTED);
  readonly #ended = new LongestRows<IndexRow>(MOST_LISTED);
  readonly #endedNames: NameCounts;
  /** Those that lay within it, and those that were open before and after it. */
  readonly #within: NameCounts;
  readonly #delayed: NameCounts;
  /** The longest request, and the longest other span, by the time within the interval. */
  readonly #request = new LongestRows<IndexRow>(1);
  readonly #other = new LongestRows<IndexRow>(1);
  readonly #names: SpanNames;

  constructor(interval: Interval, names: SpanNames) {
    this.interval = interval;
    this.#names = names;
    this.#endedNames = new NameCounts(names);
    this.#within = new NameCounts(names);
    this.#delayed = new NameCounts(names);
  }

  add(part: IndexPart, at: number, begin: number, end: number): void {
    const { start: from, end: to } = this.interval;
    const common = Math.min(end, to) - Math.max(begin, from);
    const longest = isRequest(part.flags[at]!) ? this.#request : this.#other;
    if (longest.admits(common)) longest.add(common, new IndexRow(part, at));
    if (begin < from && end > to) this.#delayed.add(part, at, 1);
    // A call waits for its answer: it did not run.
    else if (isCallOf(part.flags[at]!)) return;
    else if (common >= LEAST_SHARE * (to - from)) {
      if (begin >= from) this.#began.add(begin, new IndexRow(part, at));
      else {
        this.#ended.add(begin, new IndexRow(part, at));
        this.#endedNames.add(part, at, 1);
      }
    } else if (begin >= from && end <= to) this.#within.add(part, at, common);
  }

  /** A request that another process had sent, and that the thread had not read. */
  addUnread({ part, at }: IndexRow): void {
    this.#delayed.add(part, at, 1);
    if (this.#request.admits(0)) this.#request.add(0, new IndexRow(part, at));
  }

  /** Spans that ran on the thread, the innermost first. Of many short ones those whose names took the most time. */
  get ran(): NamedCount[] {
    const long = this.#hasBegun ? this.#began : this.#ended;
    const innermost = long.sorted.map(({ value: { part, at } }) => this.#names.of(part, at));
    if (innermost.length === 0) return NameCounts.most([this.#within]);
    const counts = new Map<string, number>();
    for (const name of innermost) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].map(([name, count]) => ({ name, count }));
  }

  /** Spans that waited meanwhile, the most frequent names first. */
  get delayed(): NamedCount[] {
    // What ended in it was delayed by what began in it, else it may be the cause.
    return NameCounts.most(this.#hasBegun ? [this.#delayed, this.#endedNames] : [this.#delayed]);
  }

  get #hasBegun(): boolean {
    return this.#began.sorted.length > 0;
  }

  /** The span that waited or ran for the longest, a request if there is one. */
  get longest(): IndexRow | undefined {
    return (this.#request.sorted[0] ?? this.#other.sorted[0])?.value;
  }
}

/** Counts spans by their names. */
class NameCounts {
  readonly #byName = new Map<string, NamedCount & { weight: number }>();
  readonly #names: SpanNames;

  constructor(names: SpanNames) {
    this.#names = names;
  }

  add(part: IndexPart, at: number, weight: number): void {
    const name = this.#names.of(part, at);
    const entry = this.#byName.get(name);
    if (entry !== undefined) {
      entry.count++;
      entry.weight += weight;
    } else if (this.#byName.size < MOST_NAMES) this.#byName.set(name, { name, count: 1, weight });
  }

  /** The names with the most weight in several counts. */
  static most(counts: readonly NameCounts[]): NamedCount[] {
    const all = new Map<string, NamedCount & { weight: number }>();
    for (const { name, count, weight } of counts.flatMap((each) => [...each.#byName.values()])) {
      const entry = all.get(name) ?? { name, count: 0, weight: 0 };
      all.set(name, entry);
      entry.count += count;
      entry.weight += weight;
    }
    return [...all.values()]
      .sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1))
      .slice(0, MOST_LISTED)
      .map(({ name, count }) => ({ name, count }));
  }
}

/** The longest stalls of the window: why the loop did not turn, what ran on it, and what waited. */
export function* longStalls(
  selection: RowSelection,
  interruptions: InterruptionTally,
  called: CalledThreads,
): Steps<LongStall[]> {
  const { index } = selection;
  const rows = interruptions.longestStalls;
  const around = yield* spansAround(
    selection,
    interruptions,
    called,
    rows.map(({ row: { track, start, end } }) => ({ track, start, end })),
  );
  return rows.map(({ row, atStart }, i): LongStall => {
    const { interval, ran, delayed } = around[i]!;
    return {
      ...interruptions.threadOf(interval.track),
      start: isoTime(index.epoch, interval.start),
      duration: interval.end - interval.start,
      ...reasonOf(index, row),
      atStart,
      ran,
      delayed,
    };
  });
}

/** What its attributes say; a mark of ovni has the cause as its label. */
export function reasonOf(
  index: LookIndex,
  { row, track, name }: IndexRow,
): Pick<LongStall, 'cause' | 'cpu' | 'code' | 'request'> {
  const isMark = index.tracks[track]!.kind === 'mark';
  if (isMark) return { cause: name, cpu: null, code: null, request: null };
  const span = recordedSpan(index, row);
  const valueOf = attributesOf(index, row);
  const [cause, cpu] = [valueOf('eventloop.cause'), valueOf('eventloop.cpu_ms')];
  return {
    cause: typeof cause === 'string' ? cause : null,
    cpu: typeof cpu === 'number' && Number.isFinite(cpu) ? cpu * 1e6 : null,
    request: span === undefined ? null : stalledRequest(index, span).name,
    code: codeOfStack(valueOf(STACK)),
  };
}
