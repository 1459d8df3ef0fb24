import { entryOf } from '../../../core/map-entries.js';
import { INSTANT_BIT } from '../../index/look-index.js';
import { rowsUpward } from '../../index/index-row.js';
import { includesSource } from '../../condition/source-condition.js';
import type {
  Condition,
  Counter,
  IndexPart,
  LookIndex,
  Source,
  Track,
} from '../../index/look-index.js';

/** A window of time: ns since the index's epoch. */
export interface TimeWindow {
  from: number;
  to: number;
}

/** The row overlaps the window. */
export const IN_WINDOW = 1;
/** It also meets the condition. */
export const CHOSEN = 2;
/** It also is a span: an operation, and not a state, a mark, an instant or a call of MPI. */
export const SPAN = 4;
const ALL = IN_WINDOW | CHOSEN | SPAN;
/** From a row up to one that is chosen. */
const MOST_ANCESTORS = 32;

/** Where the recording ends, in ns since its epoch: living processes go on after their last record. */
export function endOf({ sources, length }: Pick<LookIndex, 'sources' | 'length'>): number {
  return sources.reduce((end, { until = 0 }) => Math.max(end, until), length);
}

/** The rows that a report is about: those that overlap a window, and those among them that meet a condition. */
export class RowSelection {
  readonly index: LookIndex;
  readonly window: TimeWindow;
  /** Whether there is a condition on more than the time. */
  readonly conditional: boolean;
  /** Those of its services. */
  readonly sources: readonly Source[];
  /** By row of the index; undefined: every row of the window. */
  readonly #chosen: Uint8Array | undefined;
  /** The rows of a cause are no others. */
  readonly #isOfCause: boolean;
  /** By track: whether its rows are spans. */
  readonly #spanTracks: Uint8Array;
  readonly #marks = new Map<IndexPart, Uint8Array>();
  /** Of parts of which every row is a span that is chosen: they share the longest. */
  #full = new Uint8Array(0);
  readonly #fullParts = new Set<IndexPart>();

  private constructor(
    index: LookIndex,
    window: TimeWindow,
    sources: readonly Source[],
    chosen: Uint8Array | undefined,
    isOfCause: boolean,
  ) {
    this.#isOfCause = isOfCause;
    this.index = index;
    this.sources = sources;
    this.window = window;
    this.conditional = chosen !== undefined;
    this.#chosen = chosen;
    this.#spanTracks = Uint8Array.from(index.tracks, ({ kind }: Track) =>
      kind === 'thread' || kind === 'kernel' ? 1 : 0,
    );
  }

  static async of(index: LookIndex, condition: Condition): Promise<RowSelection> {
    const { from, to, ...fields } = condition;
    const window = {
      from: Math.max(from ?? 0, 0),
      // Beyond the last end, so that a row of no length there is within the window.
      to: Math.min(to ?? Infinity, endOf(index) + 1),
    };
    let chosen: Uint8Array | undefined;
    if (Object.keys(fields).length > 0) {
      chosen = new Uint8Array(index.rows);
      for await (const rows of index.find(condition)) {
        for (const row of rows) chosen[row] = 1;
      }
    }
    const sources = index.sources.filter((source) => includesSource(condition, source));
    return new RowSelection(index, window, sources, chosen, condition.rows !== undefined);
  }

  /** The curves of a name, of each thread of its services. */
  curves(name: string): Counter[] {
    const numbers = new Set(this.sources.map(({ number }) => number));
    return this.index.counters.filter((each) => each.name === name && numbers.has(each.source));
  }

  /** Whether a row of its services is below one that is chosen. */
  isBelowChosen({ parent, source }: IndexPart, at: number): boolean {
    const chosen = this.#chosen;
    if (chosen === undefined || this.#isOfCause) return false;
    if (!this.sources.some(({ number }) => number === source.number)) return false;
    for (const { row } of rowsUpward(this.index, parent[at]!, MOST_ANCESTORS)) {
      if (chosen[row] === 1) return true;
    }
    return false;
  }

  /** Ns of the window, at least 1. */
  get length(): number {
    return Math.max(1, this.window.to - this.window.from);
  }

  /** Whether it is all that was recorded. */
  get isWhole(): boolean {
    return !this.conditional && this.window.from <= 0 && this.window.to > this.index.length;
  }

  /** Whether a part may have rows within the window. */
  mayHave({ count, offset, firstStart, lastEnd }: IndexPart): boolean {
    const { from, to } = this.window;
    return count > 0 && firstStart + offset < to && !(lastEnd + offset < from);
  }

  /** Bits of the rows of a part, up to the last one that begins within the window: see `IN_WINDOW`. */
  marksOf(part: IndexPart): Uint8Array {
    return entryOf(this.#marks, part, () => this.#mark(part));
  }

  /** Whether every row of a part is chosen, and is a span. */
  isFull(part: IndexPart): boolean {
    return this.marksOf(part).length > 0 && this.#fullParts.has(part);
  }

  /** Whether all rows of a part are within the window. */
  #isInside({ offset, firstStart, lastEnd }: IndexPart): boolean {
    const { from, to } = this.window;
    return firstStart + offset >= from && lastEnd + offset < to;
  }

  #mark(part: IndexPart): Uint8Array {
    if (!this.mayHave(part)) return new Uint8Array(0);
    const { count, offset, start, duration, track, flags, firstRow } = part;
    const { from, to } = this.window;
    const chosen = this.#chosen;
    const spanTracks = this.#spanTracks;
    if (chosen === undefined && this.#isInside(part) && areSpans(part, spanTracks)) {
      this.#fullParts.add(part);
      if (this.#full.length < count) this.#full = new Uint8Array(count).fill(ALL);
      return this.#full.subarray(0, count);
    }
    const marks = new Uint8Array(count);
    for (let at = 0; at < count; at++) {
      const begin = start[at]! + offset;
      if (begin >= to) return marks.subarray(0, at);
      // What ends where the window begins is not in it, unless it also begins there.
      if (begin < from && begin + duration[at]! <= from) continue;
      if (chosen !== undefined && chosen[firstRow + at] === 0) marks[at] = IN_WINDOW;
      else if (spanTracks[track[at]!] === 0 || (flags[at]! & INSTANT_BIT) !== 0) {
        marks[at] = IN_WINDOW | CHOSEN;
      } else marks[at] = ALL;
    }
    return marks;
  }
}

function areSpans({ count, track, flags }: IndexPart, spanTracks: Uint8Array): boolean {
  for (let at = 0; at < count; at++) {
    if (spanTracks[track[at]!] === 0 || (flags[at]! & INSTANT_BIT) !== 0) return false;
  }
  return true;
}
