import { addToList } from '../../../core/map-entries.js';
import { rowAt } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import { NO_TRACE } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';

/** Rows of other processes that are noted, over all traces. */
const MOST_ROWS = 1 << 20;
const WORDS = 4;
/** A few low bits of a trace's id: most other traces have others. */
const SIEVE = 0xffff;
const NONE: readonly number[] = [];

/** Rows of some traces, in all processes. */
export class TracesElsewhere {
  /** By the last word of the trace's id, which is random. */
  readonly #byWord = new Map<number, WantedTrace[]>();
  readonly #sieve = new Uint8Array(SIEVE + 1);

  /** @param wanted rows of the traces that are looked for. */
  static *of(
    index: LookIndex,
    wanted: readonly Pick<IndexRow, 'part' | 'at'>[],
  ): Steps<TracesElsewhere> {
    const traces = new TracesElsewhere();
    if (index.sources.length < 2) return traces;
    for (const { part, at } of wanted) {
      const trace = part.trace[at]!;
      if (trace !== NO_TRACE) traces.#want(part.traceIds, WORDS * trace);
    }
    yield* traces.#search(index);
    return traces;
  }

  /** @param ids of the traces that are looked for, four words each. */
  static *ofIds(index: LookIndex, ids: readonly Uint32Array[]): Steps<TracesElsewhere> {
    const traces = new TracesElsewhere();
    for (const id of ids) traces.#want(id, 0);
    yield* traces.#search(index);
    return traces;
  }

  /** All rows of a trace, as far as they are noted. */
  rowsOf(id: Uint32Array): readonly number[] {
    return this.#find(id, 0)?.rows ?? NONE;
  }

  /** Rows of the trace of a row that overlap it in time, and lie in other processes. */
  *overlapping({ part, at, start, end }: IndexRow, index: LookIndex): Generator<number, void> {
    const trace = part.trace[at]!;
    if (trace === NO_TRACE) return;
    for (const row of this.#find(part.traceIds, WORDS * trace)?.rows ?? NONE) {
      const other = rowAt(index, row);
      if (other.part.source === part.source) continue;
      if (other.start < end && other.end > start) yield row;
    }
  }

  *#search(index: LookIndex): Steps<void> {
    if (this.#byWord.size === 0) return;
    let left = MOST_ROWS;
    for (const part of index.parts) {
      yield;
      left -= this.#note(part, left);
    }
  }

  /** @param at where the trace's id begins among words. */
  #want(words: Uint32Array, at: number): void {
    if (this.#find(words, at) !== undefined) return;
    const id = words.slice(at, at + WORDS);
    const last = id[WORDS - 1]!;
    this.#sieve[last & SIEVE] = 1;
    addToList(this.#byWord, last, { id, rows: [] });
  }

  #find(words: Uint32Array, at: number): WantedTrace | undefined {
    const last = words[at + WORDS - 1]!;
    if (this.#sieve[last & SIEVE] === 0) return undefined;
    return this.#byWord.get(last)?.find(({ id }) => id.every((each, i) => each === words[at + i]));
  }

  /** Notes the rows of a part; returns how many. */
  #note(part: IndexPart, most: number): number {
    const { traceCount, traceIds, trace, firstRow, count } = part;
    const known = new Map<number, WantedTrace>();
    for (let number = 0; number < traceCount; number++) {
      const found = this.#find(traceIds, WORDS * number);
      if (found !== undefined) known.set(number, found);
    }
    if (known.size === 0) return 0;
    const isWanted = new Uint8Array(traceCount);
    for (const number of known.keys()) isWanted[number] = 1;
    let noted = 0;
    for (let at = 0; at < count && noted < most; at++) {
      if (isWanted[trace[at]!] !== 1) continue;
      known.get(trace[at]!)!.rows.push(firstRow + at);
      noted += 1;
    }
    return noted;
  }
}

interface WantedTrace {
  id: Uint32Array;
  /** Ascending. */
  rows: number[];
}
