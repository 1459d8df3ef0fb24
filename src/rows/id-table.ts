import { mixed, RANDOM_SEED } from './byte-table.js';
import { enlarged } from './row-columns.js';

const NONE = 0xffff_ffff;

function hashOfWords(high: number, low: number): number {
  return mixed(mixed(high ^ RANDOM_SEED) ^ Math.imul(low, 0x9e37_79b1));
}

/** Of an id of four signed words. Each word is mixed on its own: no ids can be made that all collide. */
export function hashOfTrace(a: number, b: number, c: number, d: number): number {
  return mixed(mixed(mixed(mixed(a ^ RANDOM_SEED) ^ b) ^ c) ^ d);
}

/** Finds rows by their 64-bit ids, which lie as pairs of u32 in a column. Of equal ids the first is found. */
export class IdTable {
  readonly #ids: Uint32Array;
  #slots = new Uint32Array(0);
  #mask = 0;

  /** @param ids high and low of each row; 0 is no id. */
  constructor(ids: Uint32Array) {
    this.#ids = ids;
  }

  /** Finds these rows, and forgets all others: those of `rows`, or of all rows, from one to another. */
  fill(from = 0, to = this.#ids.length / 2, rows?: Uint32Array): void {
    let size = 16;
    while (size < 2 * (to - from)) size *= 2;
    if (size > this.#slots.length) this.#slots = new Uint32Array(size);
    this.#slots.fill(NONE, 0, size);
    const mask = (this.#mask = size - 1);
    const slots = this.#slots;
    const ids = this.#ids;
    rows: for (let at = from; at < to; at++) {
      const row = rows === undefined ? at : rows[at]!;
      const high = ids[2 * row]!;
      const low = ids[2 * row + 1]!;
      if ((high | low) === 0) continue;
      let slot = hashOfWords(high, low) & mask;
      for (let other = slots[slot]!; other !== NONE; other = slots[slot]!) {
        // Many rows of one id would make a long chain.
        if (ids[2 * other] === high && ids[2 * other + 1] === low) continue rows;
        slot = (slot + 1) & mask;
      }
      slots[slot] = row;
    }
  }

  /** The row with an id, or -1. */
  find(high: number, low: number): number {
    const slots = this.#slots;
    const ids = this.#ids;
    const mask = this.#mask;
    let slot = hashOfWords(high, low) & mask;
    for (let row = slots[slot]!; row !== NONE; row = slots[slot]!) {
      if (ids[2 * row] === high && ids[2 * row + 1] === low) return row;
      slot = (slot + 1) & mask;
    }
    return -1;
  }
}

const TRACE_WORDS = 4;

/** Ids of traces by number, each once: 128 bits as four u32. */
export class TraceTable {
  count = 0;
  #words = new Int32Array(TRACE_WORDS * 1024);
  #slots = new Uint32Array(2048).fill(NONE);
  #last = 0;

  /** Of an id of four signed words. */
  numberOf(a: number, b: number, c: number, d: number): number {
    const words = this.#words;
    // The records of a trace lie together as a rule.
    const last = TRACE_WORDS * this.#last;
    if (
      words[last + 3] === d &&
      words[last + 2] === c &&
      words[last + 1] === b &&
      words[last] === a &&
      this.#last < this.count
    ) {
      return this.#last;
    }
    return (this.#last = this.#numberOf(a, b, c, d));
  }

  #numberOf(a: number, b: number, c: number, d: number): number {
    const words = this.#words;
    const mask = this.#slots.length - 1;
    let slot = hashOfTrace(a, b, c, d) & mask;
    for (;;) {
      const number = this.#slots[slot]!;
      if (number === NONE) break;
      const at = TRACE_WORDS * number;
      if (words[at + 3] === d && words[at + 2] === c && words[at + 1] === b && words[at] === a) {
        return number;
      }
      slot = (slot + 1) & mask;
    }
    const number = this.count++;
    const end = TRACE_WORDS * number;
    words[end] = a;
    words[end + 1] = b;
    words[end + 2] = c;
    words[end + 3] = d;
    this.#slots[slot] = number;
    if (TRACE_WORDS * this.count === this.#words.length) this.#grow();
    return number;
  }

  /** The number of the id at an index of a column, or -1. */
  find(ids: Uint32Array, at: number): number {
    const a = ids[at]! | 0;
    const b = ids[at + 1]! | 0;
    const c = ids[at + 2]! | 0;
    const d = ids[at + 3]! | 0;
    const words = this.#words;
    const mask = this.#slots.length - 1;
    let slot = hashOfTrace(a, b, c, d) & mask;
    for (let number = this.#slots[slot]!; number !== NONE; number = this.#slots[slot]!) {
      const own = TRACE_WORDS * number;
      if (
        words[own + 3] === d &&
        words[own + 2] === c &&
        words[own + 1] === b &&
        words[own] === a
      ) {
        return number;
      }
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** Forgets all, and keeps the room. */
  clear(): void {
    this.count = 0;
    this.#last = 0;
    this.#slots.fill(NONE);
  }

  /** Four words of each trace. */
  take(): Uint32Array {
    return new Uint32Array(this.#words.slice(0, TRACE_WORDS * this.count).buffer);
  }

  #grow(): void {
    const words = enlarged(this.#words);
    const slots = new Uint32Array(2 * this.#slots.length).fill(NONE);
    const mask = slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      const at = TRACE_WORDS * number;
      let slot = hashOfTrace(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!) & mask;
      while (slots[slot] !== NONE) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.#words = words;
    this.#slots = slots;
  }
}
