import { INSTANT_BIT } from '../../index/look-index.js';
import type { IndexPart } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { IN_WINDOW } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import { kindOfSpan } from '../names/interruption-kinds.js';

const RUNNING = 'running';

/** By track. */
interface BusyTimes {
  /** Rows. */
  spans: Float64Array;
  /** Ns in which a row was open. */
  busy: Float64Array;
}

/** Time of rows that began before the end of an earlier part: a long span lies in the part in which it ended. */
interface EarlyTime {
  begin: number;
  until: number;
}

/** @param begins when each track begins: what lies before does not count. */
export function* busyTimes(selection: RowSelection, begins: Float64Array): Steps<BusyTimes> {
  const counting = new BusyCounting(selection, begins);
  for (const part of selection.index.parts) {
    counting.addEarly(part);
    yield;
  }
  counting.sortEarly();
  for (const part of selection.index.parts) {
    counting.add(part);
    yield;
  }
  counting.finish();
  return counting;
}

class BusyCounting implements BusyTimes {
  readonly spans: Float64Array;
  readonly busy: Float64Array;
  readonly #selection: RowSelection;
  readonly #isStates: Uint8Array;
  /** Rows come by their start: up to here the time is counted. */
  readonly #counted: Float64Array;
  /** By source: the last start of the parts before. */
  readonly #lastStarts = new Map<number, number>();
  readonly #early = new Map<IndexPart, number>();
  readonly #earlyOf: (EarlyTime[] | undefined)[] = [];

  constructor(selection: RowSelection, begins: Float64Array) {
    const { tracks } = selection.index;
    this.#selection = selection;
    this.spans = new Float64Array(tracks.length);
    this.busy = new Float64Array(tracks.length);
    this.#counted = begins.map((begin) => Math.max(begin, selection.window.from));
    this.#isStates = Uint8Array.from(tracks, ({ kind }) => (kind === 'states' ? 1 : 0));
  }

  /** Notes the rows that begin before the end of the parts before theirs. */
  addEarly(part: IndexPart): void {
    const { source, start, duration, offset, track } = part;
    const marks = this.#selection.marksOf(part);
    const isBusy = this.#busyRows(part, marks);
    const last = this.#lastStarts.get(source.number) ?? -Infinity;
    let at = 0;
    for (; at < marks.length && start[at]! < last; at++) {
      if (isBusy?.(at) === false) continue;
      const begin = start[at]! + offset;
      const until = begin + duration[at]!;
      const rows = (this.#earlyOf[track[at]!] ??= []);
      const before = rows.at(-1);
      // Most rows overlap the one before, or lie within it.
      if (before !== undefined && begin >= before.begin && begin <= before.until) {
        if (until > before.until) before.until = until;
      } else rows.push({ begin, until });
    }
    this.#early.set(part, at);
    if (marks.length > 0) {
      this.#lastStarts.set(source.number, Math.max(last, start[marks.length - 1]!));
    }
  }

  /** The last first: each is taken from the end. */
  sortEarly(): void {
    for (const rows of this.#earlyOf) rows?.sort((a, b) => b.begin - a.begin);
  }

  add(part: IndexPart): void {
    const marks = this.#selection.marksOf(part);
    const { track: trackOf, start, duration, offset } = part;
    const early = this.#early.get(part)!;
    const isBusy = this.#busyRows(part, marks);
    const counted = this.#counted;
    const { spans } = this;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & IN_WINDOW) === 0) continue;
      const track = trackOf[at]!;
      spans[track]!++;
      const begin = start[at]! + offset;
      // Most rows lie within one that began before them.
      if (begin + duration[at]! <= counted[track]! || at < early || isBusy?.(at) === false)
        continue;
      const others = this.#earlyOf[track];
      if (others !== undefined) this.#takeEarly(track, others, begin);
      this.#count(track, begin, begin + duration[at]!);
    }
  }

  /** Counts what is left of the early rows. */
  finish(): void {
    for (const [track, rows] of this.#earlyOf.entries()) {
      if (rows !== undefined) this.#takeEarly(track, rows, Infinity);
    }
  }

  #takeEarly(track: number, rows: EarlyTime[], most: number): void {
    for (let next = rows.at(-1); next !== undefined && next.begin <= most; next = rows.at(-1)) {
      this.#count(track, next.begin, next.until);
      rows.pop();
    }
  }

  /** Which rows of a part are time in which its thread worked; undefined: all. Columns are looked up once for all rows. */
  #busyRows(part: IndexPart, marks: Uint8Array): ((at: number) => boolean) | undefined {
    const { track, flags, name, names } = part;
    const isStates = this.#isStates;
    // A stall or a collection is no span of the program.
    const isPause = Uint8Array.from({ length: names.count }, (_, at) =>
      kindOfSpan(names.text(at)) === undefined ? 0 : 1,
    );
    if (this.#selection.isFull(part) && !isPause.includes(1)) return undefined;
    return (at) => {
      if ((marks[at]! & IN_WINDOW) === 0 || (flags[at]! & INSTANT_BIT) !== 0) return false;
      if (isPause[name[at]!] === 1) return false;
      return isStates[track[at]!] === 0 || names.text(name[at]!) === RUNNING;
    };
  }

  #count(track: number, begin: number, until: number): void {
    const { to: end } = this.#selection.window;
    const known = this.#counted[track]!;
    if (until <= known) return;
    const from = begin < known ? known : begin;
    const to = until < end ? until : end;
    if (to <= from) return;
    this.busy[track]! += to - from;
    this.#counted[track] = to;
  }
}
