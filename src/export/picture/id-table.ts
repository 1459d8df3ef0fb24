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
  /** First entry of an id's list; EMPTY: the place is free. */
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
    const place = this.#place(high, low);
    if (this.#first[place] === EMPTY) {
      this.#high[place] = high;
      this.#low[place] = low;
      this.#ids++;
    }
    this.#values[entry] = value;
    this.#next[entry] = this.#first[place]!;
    this.#first[place] = entry;
    this.size++;
  }

  /** Calls for each value of an id. */
  forEach(high: number, low: number, call: (value: number) => void): void {
    for (let at = this.#first[this.#place(high, low)]!; at !== EMPTY; at = this.#next[at]!) {
      call(this.#values[at]!);
    }
  }

  has(high: number, low: number): boolean {
    return this.#first[this.#place(high, low)] !== EMPTY;
  }

  /** Removes an id, and calls for each of its values. */
  remove(high: number, low: number, call: (value: number) => void): void {
    let place = this.#place(high, low);
    let at = this.#first[place]!;
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
    for (let other = (place + 1) & mask; ; other = (other + 1) & mask) {
      if (this.#first[other] === EMPTY) break;
      const home = this.#home(this.#high[other]!, this.#low[other]!);
      if (((other - home) & mask) < ((other - place) & mask)) continue;
      this.#high[place] = this.#high[other]!;
      this.#low[place] = this.#low[other]!;
      this.#first[place] = this.#first[other]!;
      place = other;
    }
    this.#first[place] = EMPTY;
  }

  #entry(): number {
    const free = this.#free;
    if (free !== EMPTY) {
      this.#free = this.#next[free]!;
      return free;
    }
    if (this.#entries === this.#values.length) {
      this.#values = larger(this.#values);
      this.#next = larger(this.#next);
    }
    return this.#entries++;
  }

  #home(high: number, low: number): number {
    const mixed = Math.imul(high ^ (low >>> 15), MIX_HIGH) + Math.imul(low, MIX_LOW);
    return (mixed ^ (mixed >>> 15)) & (this.#capacity - 1);
  }

  /** Where an id is, or where it would go. */
  #place(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let place = this.#home(high, low);
    while (
      this.#first[place] !== EMPTY &&
      (this.#low[place] !== low || this.#high[place] !== high)
    ) {
      place = (place + 1) & mask;
    }
    return place;
  }

  #grow(): void {
    const [high, low, first] = [this.#high, this.#low, this.#first];
    this.#capacity *= 2;
    this.#high = new Uint32Array(this.#capacity);
    this.#low = new Uint32Array(this.#capacity);
    this.#first = new Int32Array(this.#capacity).fill(EMPTY);
    for (let i = 0; i < first.length; i++) {
      if (first[i] === EMPTY) continue;
      const place = this.#place(high[i]!, low[i]!);
      this.#high[place] = high[i]!;
      this.#low[place] = low[i]!;
      this.#first[place] = first[i]!;
    }
  }
}

function larger(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(2 * numbers.length);
  grown.set(numbers);
  return grown;
}
