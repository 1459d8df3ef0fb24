import { processWords } from '../../core/process-notes.js';
import { LATE_MS } from './late-spans.js';

/** Words of an entry: the low half of the trace id, the state, and one more. */
const HIGH = 0;
const LOW = 1;
const STATE = 2;
const MORE = 3;
const ENTRY_WORDS = 4;
/** Entries of traces with the same lowest bits. The first one's last word says which goes next. */
const OF_A_SET = 8;
const SETS = 1 << 11;
const SET_WORDS = ENTRY_WORDS * OF_A_SET;
/** The word after all entries: threads whose traces wait. */
const THREADS = SETS * SET_WORDS;
const PROCESS_WORDS = THREADS + 16;

/** The state of a trace. */
export const TRACE_UNKNOWN = 0;
export const TRACE_UNDECIDED = 1;
export const TRACE_KEPT = 2;
export const TRACE_RELEASED = 3;
/** Another thread wants it kept, for the reason above the lowest bits. */
const WANTED = 4;
const STATE_MASK = 7;
/** Bits from here on: the reason, or of a trace that is kept the time of the decision. */
const MORE_SHIFT = 3;
/** Milliseconds of a unit of these times. */
const UNIT_MS = 16;

function isDecided(state: number): boolean {
  return state !== TRACE_UNDECIDED && (state & STATE_MASK) !== WANTED;
}

/** Milliseconds by the clock that all threads of the machine have. */
export function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/**
 * A table of the process in which threads find the decisions about traces that may have spans in several of them. Each
 * trace has one thread that decides. An entry that was overwritten is unknown again.
 */
export class ThreadDecisions {
  readonly #words = new Int32Array(processWords(4 * PROCESS_WORDS));
  #isCounted = false;

  /** This thread's traces wait, or no longer do. */
  count(isWaiting: boolean): void {
    if (isWaiting === this.#isCounted) return;
    this.#isCounted = isWaiting;
    Atomics.add(this.#words, THREADS, isWaiting ? 1 : -1);
  }

  /** Whether other threads have traces that wait. */
  get areSeveral(): boolean {
    return this.#words[THREADS]! > 1;
  }

  /**
   * This thread decides about a trace, unless another one does.
   *
   * @returns its entry; -1: another one's.
   */
  begin(t2: number, t3: number): number {
    const words = this.#words;
    const known = this.#find(t2, t3);
    if (known !== 0 && !isDecided(words[known + STATE]!)) return -1;
    const at = known === 0 ? this.#free(t3) : known;
    Atomics.store(words, at + STATE, TRACE_UNKNOWN);
    words[at + HIGH] = t2;
    words[at + LOW] = t3;
    Atomics.store(words, at + STATE, TRACE_UNDECIDED);
    return at;
  }

  /** An entry that is not undecided, if there is one. 0 is none's: it has the cursor of its set. */
  #free(t3: number): number {
    const words = this.#words;
    const set = SET_WORDS * (t3 & (SETS - 1));
    const cursor = Atomics.add(words, set + MORE, 1);
    let at = 0;
    for (let i = 0; i < OF_A_SET; i++) {
      at = set + ENTRY_WORDS * ((cursor + i) & (OF_A_SET - 1));
      if (at !== 0 && isDecided(words[at + STATE]!)) return at;
    }
    return at === 0 ? ENTRY_WORDS : at;
  }

  #find(t2: number, t3: number): number {
    const words = this.#words;
    const set = SET_WORDS * (t3 & (SETS - 1));
    for (let at = set; at < set + SET_WORDS; at += ENTRY_WORDS) {
      if (words[at + LOW] !== t3 || words[at + HIGH] !== t2) continue;
      if (Atomics.load(words, at + STATE) !== TRACE_UNKNOWN) return at;
    }
    return 0;
  }

  /**
   * TRACE_UNKNOWN, TRACE_UNDECIDED, TRACE_KEPT or TRACE_RELEASED: what is wanted will be kept.
   *
   * @param begun when the part has begun that asks, by `sharedNow`. Long after a decision it is not concerned.
   */
  stateOf(t2: number, t3: number, begun: number): number {
    const at = this.#find(t2, t3);
    if (at === 0) return TRACE_UNKNOWN;
    const word = Atomics.load(this.#words, at + STATE);
    const state = word & STATE_MASK;
    if (state === WANTED) return TRACE_KEPT;
    if (state !== TRACE_KEPT) return state;
    return begun > (word >>> MORE_SHIFT) * UNIT_MS + LATE_MS ? TRACE_UNKNOWN : TRACE_KEPT;
  }

  /** Has the thread that decides keep a trace; false: it has decided, or is not known. */
  want(t2: number, t3: number, reason: number): boolean {
    const at = this.#find(t2, t3);
    if (at === 0) return false;
    const wanted = WANTED | (reason << MORE_SHIFT);
    return (
      Atomics.compareExchange(this.#words, at + STATE, TRACE_UNDECIDED, wanted) === TRACE_UNDECIDED
    );
  }

  /**
   * This thread releases a trace.
   *
   * @returns the reason for which another one wants it kept meanwhile; 0: there is none, and it is released.
   */
  release(at: number, t2: number, t3: number): number {
    if (!this.#isOf(at, t2, t3)) return 0;
    const state = Atomics.compareExchange(this.#words, at + STATE, TRACE_UNDECIDED, TRACE_RELEASED);
    return (state & STATE_MASK) === WANTED ? state >> MORE_SHIFT : 0;
  }

  /** A trace is decided. */
  end(at: number, t2: number, t3: number, isKept: boolean): void {
    if (!this.#isOf(at, t2, t3)) return;
    const time = Math.ceil(sharedNow() / UNIT_MS);
    const state = isKept ? TRACE_KEPT | (time << MORE_SHIFT) : TRACE_RELEASED;
    Atomics.store(this.#words, at + STATE, state);
  }

  #isOf(at: number, t2: number, t3: number): boolean {
    return this.#words[at + HIGH] === t2 && this.#words[at + LOW] === t3;
  }
}
