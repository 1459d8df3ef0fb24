import { enlarged } from '../../rows/row-columns.js';

const EMPTY = -1;
/** Odd numbers that nobody knows who chooses ids. */
const [MIX_HIGH, MIX_LOW] = [oddNumber(), oddNumber()];

function oddNumber(): number {
  return Math.floor(Math.random() * 2 ** 32) | 1;
}

/** Lists of numbers by 64-bit ids, in arrays: a recording may have millions. */
export class IdTable {
  #capacity = 1 << 12;
  #high = new Uint32Array(this.#capacity);
  #low = new Uint32Array(this.#capacity);
  /** First entry of an id's list; EMPTY: the slot is free. */
  #first = new Int32Array(this.#capacity).fill(EMPTY);
  /** Of entries: the value, and the next one of the list or of the free ones. */
  #values = new Int32Array(1 << 12);
  #next = new Int32Array(1 << 12);
  #free = EMPTY;
  #entries = 0;
  #ids = 0;
  /** Values in the table. */
  size = 0;

  /** Adds a value to the list of an id. */
  add(high: number, low: number, value: number): void {
    if (2 * this.#ids >= this.#capacity) this.#grow();
    const entry = this.#entry();
    const slot = this.#slot(high, low);
    if (this.#first[slot] === EMPTY) {
      this.#high[slot] = high;
      this.#low[slot] = low;
      this.#ids++;
    }
    this.#values[entry] = value;
    this.#next[entry] = this.#first[slot]!;
    this.#first[slot] = entry;
    this.size++;
  }

  /** Calls for each value of an id. */
  forEach(high: number, low: number, call: (value: number) => void): void {
    for (let at = this.#first[this.#slot(high, low)]!; at !== EMPTY; at = this.#next[at]!) {
      call(this.#values[at]!);
    }
  }

  has(high: number, low: number): boolean {
    return this.#first[this.#slot(high, low)] !== EMPTY;
  }

  /** Removes an id, and calls for each of its values. */
  remove(high: number, low: number, call: (value: number) => void): void {
    let slot = this.#slot(high, low);
    let at = this.#first[slot]!;
    if (at === EMPTY) return;
    while (at !== EMPTY) {
      const next = this.#next[at]!;
      const value = this.#values[at]!;
      this.#next[at] = this.#free;
      this.#free = at;
      this.size--;
      call(value);
      at = next;
    }
    this.#ids--;
    // Those after it move up, so that a search never meets a gap.
    const mask = this.#capacity - 1;
    for (let other = (slot + 1) & mask; ; other = (other + 1) & mask) {
      if (this.#first[other] === EMPTY) break;
      const home = this.#home(this.#high[other]!, this.#low[other]!);
      if (((other - home) & mask) < ((other - slot) & mask)) continue;
      this.#high[slot] = this.#high[other]!;
      this.#low[slot] = this.#low[other]!;
      this.#first[slot] = this.#first[other]!;
      slot = other;
    }
    this.#first[slot] = EMPTY;
  }

  #entry(): number {
    const free = this.#free;
    if (free !== EMPTY) {
      this.#free = this.#next[free]!;
      return free;
    }
    if (this.#entries === this.#values.length) {
      this.#values = enlarged(this.#values);
      this.#next = enlarged(this.#next);
    }
    return this.#entries++;
  }

  #home(high: number, low: number): number {
    const mixed = Math.imul(high ^ (low >>> 15), MIX_HIGH) + Math.imul(low, MIX_LOW);
    return (mixed ^ (mixed >>> 15)) & (this.#capacity - 1);
  }

  /** Where an id is, or where it would go. */
  #slot(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let slot = this.#home(high, low);
    while (this.#first[slot] !== EMPTY && (this.#low[slot] !== low || this.#high[slot] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [high, low, first] = [this.#high, this.#low, this.#first];
    this.#capacity *= 2;
    this.#high = new Uint32Array(this.#capacity);
    this.#low = new Uint32Array(this.#capacity);
    this.#first = new Int32Array(this.#capacity).fill(EMPTY);
    for (let i = 0; i < first.length; i++) {
      if (first[i] === EMPTY) continue;
      const slot = this.#slot(high[i]!, low[i]!);
      this.#high[slot] = high[i]!;
      this.#low[slot] = low[i]!;
      this.#first[slot] = first[i]!;
    }
  }
}
