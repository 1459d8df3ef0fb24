import { entryOf } from '../../../core/map-entries.js';
import { IndexRow } from '../../index/index-row.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { kindOfSpan } from '../names/interruption-kinds.js';
import type { InterruptionKind as Kind } from '../names/interruption-kinds.js';
import { IntervalSet } from '../measures/interval-set.js';
import { LongestRows } from '../measures/longest-rows.js';
import type { ProcessStarts } from '../recording/recorded-times.js';
import type { Interruption, ThreadInterruption, ThreadOfProcess } from '../shape/thread-shape.js';
import { IN_WINDOW } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import { threadKeys, threadOfProcess } from '../recording/processes.js';
import type { Steps } from '../../index/turns.js';

/** Stalls that are described one by one. */
const MOST_LONGEST = 10;
/** Stalls that are added up by the code that ran. */
const MOST_STALLS = 1000;
/** Pauses of a stretch of time that are given one by one. */
const MOST_PAUSES = 100;

/** A stretch of time in which a thread was stalled, or else collected garbage. Ns of the index. */
export interface Pause {
  kind: Kind;
  start: number;
  end: number;
}

const kindsOfParts = new WeakMap<IndexPart, { names: number; kinds: Set<Kind> }>();

/** Of which kinds there are rows. */
export function interruptionKinds({ parts }: LookIndex): Kind[] {
  const all = new Set<Kind>();
  for (const part of parts) {
    let known = kindsOfParts.get(part);
    if (known?.names !== part.names.count) {
      const kinds = new Set(kindsOfNames(part).filter((kind) => kind !== undefined));
      known = { names: part.names.count, kinds };
      kindsOfParts.set(part, known);
    }
    for (const kind of known.kinds) all.add(kind);
  }
  return (['stall', 'collection'] as const).filter((kind) => all.has(kind));
}

interface LongestStall {
  row: IndexRow;
  /** Its process was starting. */
  atStart: boolean;
}

interface CountedInterruption extends Interruption {
  /** The longest. */
  longest: IndexRow;
}

/** When a thread did not work. */
interface ThreadInterruptions {
  /** One of its tracks. */
  readonly track: number;
  readonly byName: Record<Kind, Map<string, CountedInterruption>>;
  readonly stall: IntervalSet;
  readonly collection: IntervalSet;
  readonly either: IntervalSet;
  /** Stalls by their start, once they are asked for. */
  readonly stalls: IndexRow[];
  areInOrder: boolean;
}

/** Stalls of event loops and garbage collections within the window, by thread. */
export class InterruptionTally {
  readonly #selection: RowSelection;
  readonly #keys: readonly string[];
  readonly #byThread = new Map<string, ThreadInterruptions>();
  readonly #starts: ProcessStarts | undefined;
  readonly #longest = new LongestRows<IndexRow>(MOST_LONGEST);
  readonly #stalls = new LongestRows<IndexRow>(MOST_STALLS);
  /** Those in which the process was starting: else they would be the longest of all. */
  readonly #atStart = new LongestRows<IndexRow>(MOST_LONGEST);

  private constructor(selection: RowSelection, starts: ProcessStarts | undefined) {
    this.#selection = selection;
    this.#starts = starts;
    this.#keys = threadKeys(selection.index);
  }

  /** @param starts none: the longest stalls are not asked for. */
  static *of(selection: RowSelection, starts?: ProcessStarts): Steps<InterruptionTally> {
    const tally = new InterruptionTally(selection, starts);
    yield* tally.#add();
    return tally;
  }

  *#add(): Steps<void> {
    const selection = this.#selection;
    const { tracks } = selection.index;
    const isThread = Uint8Array.from(tracks, ({ kind }) => (kind === 'thread' ? 1 : 0));
    for (const part of selection.index.parts) {
      yield;
      const ofNames = kindsOfNames(part);
      // Names of a part are few as a rule: without one of ours its rows need no look.
      if (!ofNames.some((kind) => kind !== undefined)) continue;
      const marks = selection.marksOf(part);
      const { track, name } = part;
      for (let at = 0; at < marks.length; at++) {
        if ((marks[at]! & IN_WINDOW) === 0) continue;
        const kind = ofNames[name[at]!];
        if (kind !== undefined && isThread[track[at]!] === 1) this.#addRow(part, at, kind);
      }
    }
  }

  /** Time of a thread's stalls or collections in [start, end). */
  overlap(track: number, start: number, end: number): Record<Kind | 'either', number> {
    const own = this.#byThread.get(this.#keys[track]!);
    return {
      stall: own?.stall.overlap(start, end) ?? 0,
      collection: own?.collection.overlap(start, end) ?? 0,
      either: own?.either.overlap(start, end) ?? 0,
    };
  }

  /** Whether no thread was stalled or collected garbage. */
  get isEmpty(): boolean {
    return this.#byThread.size === 0;
  }

  /** Whether the thread of a track was stalled or collected garbage. */
  hasAny(track: number): boolean {
    return this.#byThread.has(this.#keys[track]!);
  }

  /** Whether a row of a part met a stall of its thread, to be asked in their order; undefined: none did. */
  stalledRows(part: IndexPart): ((at: number) => boolean) | undefined {
    const { track, start, duration, offset, source } = part;
    const ofTracks = this.#selection.index.tracks.map(({ number, source: of }) =>
      of === source.number ? this.#byThread.get(this.#keys[number]!)?.stall.inOrder() : undefined,
    );
    if (ofTracks.every((each) => each === undefined)) return undefined;
    return (at) => {
      const begin = start[at]! + offset;
      return ofTracks[track[at]!]?.(begin, begin + duration[at]!) === true;
    };
  }

  isSameThread(track: number, other: number): boolean {
    return this.#keys[track] === this.#keys[other];
  }

  /** The first pauses of a track's thread in [start, end), none of which overlap. */
  pauses(track: number, start: number, end: number): Pause[] {
    const own = this.#byThread.get(this.#keys[track]!);
    if (own === undefined) return [];
    const pauses: Pause[] = [];
    let free = start;
    const addCollections = (until: number): void => {
      const most = MOST_PAUSES - pauses.length;
      for (const [from, to] of own.collection.within(free, until, most)) {
        pauses.push({ kind: 'collection', start: from, end: to });
      }
    };
    for (const [from, to] of own.stall.within(start, end, MOST_PAUSES)) {
      addCollections(from);
      if (pauses.length === MOST_PAUSES) return pauses;
      pauses.push({ kind: 'stall', start: from, end: to });
      free = to;
    }
    addCollections(end);
    return pauses;
  }

  /** The stalls of a track's thread that overlap [start, end). */
  *stalls(track: number, start: number, end: number): Generator<IndexRow, void> {
    const own = this.#byThread.get(this.#keys[track]!);
    if (own === undefined) return;
    const { stalls } = own;
    if (!own.areInOrder) {
      stalls.sort((a, b) => a.start - b.start);
      own.areInOrder = true;
    }
    let [low, high] = [0, stalls.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (stalls[middle]!.end <= start) low = middle + 1;
      else high = middle;
    }
    for (; low < stalls.length && stalls[low]!.start < end; low++) yield stalls[low]!;
  }

  /** Time of [start, end) in which a track's thread was interrupted, or that lies within further intervals. */
  unionWith(track: number, others: IntervalSet, start: number, end: number): number {
    const own = this.#byThread.get(this.#keys[track]!)?.either;
    let time = own?.overlap(start, end) ?? 0;
    for (const [from, to] of others.within(start, end, Infinity)) {
      time += to - from - (own?.overlap(from, to) ?? 0);
    }
    return time;
  }

  /** The interruptions of one kind by name, those that took the most time first. */
  list(kind: Kind): Interruption[] {
    return [...this.#ofAllThreads(kind).values()].sort((a, b) => b.total - a.total);
  }

  /** The same by thread, each with the longest row. */
  threads(kind: Kind): { figures: ThreadInterruption; row: number }[] {
    return [...this.#byThread.values()]
      .flatMap((own) =>
        [...own.byName[kind].values()].map(({ longest, ...figures }) => ({
          figures: { kind, ...this.threadOf(own.track), ...figures },
          row: longest.row,
        })),
      )
      .sort((a, b) => b.figures.total - a.figures.total);
  }

  /**
   * The longest stalls, each once: those at the start of a process after all others. One of them is always there,
   * as it may be the longest of all.
   */
  get longestStalls(): LongestStall[] {
    const atStart = this.#atStart.sorted.map(({ value: row }) => ({ row, atStart: true }));
    const others = this.#longest.sorted.map(({ value: row }) => ({ row, atStart: false }));
    return [...others.slice(0, MOST_LONGEST - Math.min(atStart.length, 1)), ...atStart].slice(
      0,
      MOST_LONGEST,
    );
  }

  /** The longest stalls that may have stacks, in no order. */
  get stallRows(): IndexRow[] {
    return this.#stalls.sorted.map(({ value }) => value);
  }

  threadOf(number: number): ThreadOfProcess {
    const { sources, tracks } = this.#selection.index;
    const track = tracks[number]!;
    return threadOfProcess(
      sources.find((source) => source.number === track.source)!,
      track.name,
    );
  }

  #ofAllThreads(kind: Kind): Map<string, Interruption> {
    const all = new Map<string, Interruption>();
    for (const own of this.#byThread.values()) {
      for (const { name, count, total, max } of own.byName[kind].values()) {
        const entry = all.get(name) ?? { name, count: 0, total: 0, max: 0 };
        all.set(name, entry);
        entry.count += count;
        entry.total += total;
        entry.max = Math.max(entry.max, max);
      }
    }
    return all;
  }

  #addRow(part: IndexPart, at: number, kind: Kind): void {
    const row = new IndexRow(part, at);
    const { track, name, start, end } = row;
    const { from, to } = this.#selection.window;
    const own = this.#interruptionsOf(track);
    const byName = own.byName[kind];
    const entry = byName.get(name) ?? { name, count: 0, total: 0, max: 0, longest: row };
    byName.set(name, entry);
    entry.count++;
    entry.total += Math.min(end, to) - Math.max(start, from);
    if (end - start > entry.max) [entry.max, entry.longest] = [end - start, row];
    own[kind].add(start, end);
    if (kind === 'stall') {
      own.stalls.push(row);
      own.areInOrder = false;
      const isStart = this.#starts?.isStarting(part.source.number, start) === true;
      (isStart ? this.#atStart : this.#longest).add(end - start, row);
      if (!isStart) this.#stalls.add(end - start, row);
    }
    own.either.add(start, end);
  }

  #interruptionsOf(track: number): ThreadInterruptions {
    const key = this.#keys[track]!;
    const own = entryOf(this.#byThread, key, () => ({
      track,
      byName: { stall: new Map(), collection: new Map() },
      stall: new IntervalSet(),
      collection: new IntervalSet(),
      either: new IntervalSet(),
      stalls: [],
      areInOrder: false,
    }));
    return own;
  }
}

function kindsOfNames({ names }: IndexPart): (Kind | undefined)[] {
  return Array.from({ length: names.count }, (_, number) => kindOfSpan(names.text(number)));
}
