/** Traces that are remembered with the same lowest bits of their ids. A power of two. */
const OF_A_SET = 8;
/** Of an entry: the low half of the id, and when the trace was decided; 0: there is none. */
const HIGH = 0;
const LOW = 1;
const TIME = 2;
const ENTRY_WORDS = 3;
/** Nanoseconds of a unit of these times, as in native/ring/ring_waiting_records.cc. */
const UNIT = 2 ** 24;

/** The last traces of which something is known, by the low half of their ids. */
export class RememberedTraces {
  readonly entries: Int32Array;
  /** Of each set: which one goes next. */
  readonly oldest: Uint8Array;

  readonly #reasons: Uint16Array;

  /** @param sets a power of two. */
  constructor(sets: number) {
    this.entries = new Int32Array(ENTRY_WORDS * OF_A_SET * sets);
    this.oldest = new Uint8Array(sets);
    this.#reasons = new Uint16Array(OF_A_SET * sets);
  }

  /**
   * @param now nanoseconds of the trace, as are all times here.
   * @param reason why it is kept; 0: it is not.
   */
  add(t2: number, t3: number, now: number, reason: number): void {
    const { entries, oldest } = this;
    const set = t3 & (oldest.length - 1);
    const next = oldest[set]!;
    oldest[set] = (next + 1) & (OF_A_SET - 1);
    const number = set * OF_A_SET + next;
    const at = ENTRY_WORDS * number;
    entries[at + HIGH] = t2;
    entries[at + LOW] = t3;
    entries[at + TIME] = Math.floor(now / UNIT) + 1;
    this.#reasons[number] = reason;
  }

  /** The number of the last decision about a trace; -1: none is known. */
  #find(t2: number, t3: number): number {
    const { entries, oldest } = this;
    const from = OF_A_SET * (t3 & (oldest.length - 1));
    let found = -1;
    let last = 0;
    for (let number = from; number < from + OF_A_SET; number++) {
      const at = ENTRY_WORDS * number;
      if (entries[at + LOW] !== t3 || entries[at + HIGH] !== t2) continue;
      if (entries[at + TIME]! < last) continue;
      last = entries[at + TIME]!;
      found = number;
    }
    return last === 0 ? -1 : found;
  }

  /** When a trace was decided, or up to 17 ms later; undefined: it is not known. */
  timeOf(t2: number, t3: number): number | undefined {
    const number = this.#find(t2, t3);
    return number === -1 ? undefined : this.entries[ENTRY_WORDS * number + TIME]! * UNIT;
  }

  /** Why a trace was kept; 0: it is not known. */
  reasonOf(t2: number, t3: number): number {
    const number = this.#find(t2, t3);
    return number === -1 ? 0 : this.#reasons[number]!;
  }

  /** Whether a trace that is not known may have been decided after `time`, and forgotten for others since. */
  mayHaveForgotten(t3: number, time: number): boolean {
    const set = t3 & (this.oldest.length - 1);
    const at = ENTRY_WORDS * (set * OF_A_SET + this.oldest[set]!);
    const oldest = this.entries[at + TIME]!;
    return oldest !== 0 && oldest * UNIT > time;
  }
}
