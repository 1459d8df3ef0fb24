/** Lanes of a track at most: a lane is a u16. Rows that overlap more than that share the last one. */
const MAX_LANES = 1 << 16;

/** Gives rows of one track to lanes in which they do not overlap. Takes them in order of start. */
export class Lanes {
  count = 0;
  /**
   * A tree of the earliest end: leaf `#leaves + i` is the end of lane `i`, a node the least of its two
   * below. A lane that is not used yet has ended before everything.
   */
  #leaves = 16;
  #ends = new Float64Array(32).fill(-Infinity);

  /** The first lane from `least` on that is free at `start`; it is taken until `end`. */
  take(start: number, end: number, least: number): number {
    let lane = least < MAX_LANES ? this.#find(start, least) : -1;
    if (lane === -1) lane = this.#find(start, 0);
    if (lane === -1) lane = MAX_LANES - 1;
    this.#setEnd(lane, Math.max(end, this.#ends[this.#leaves + lane]!));
    if (lane >= this.count) this.count = lane + 1;
    return lane;
  }

  /** Takes a lane until `end`, as another reading of the same rows has. */
  occupy(lane: number, end: number): void {
    while (lane >= this.#leaves) this.#grow();
    if (end > this.#ends[this.#leaves + lane]!) this.#setEnd(lane, end);
    if (lane >= this.count) this.count = lane + 1;
  }

  copy(): Lanes {
    const copy = new Lanes();
    copy.count = this.count;
    copy.#leaves = this.#leaves;
    copy.#ends = this.#ends.slice();
    return copy;
  }

  #find(start: number, least: number): number {
    while (least >= this.#leaves) this.#grow();
    for (;;) {
      const lane = this.#firstFree(start, least);
      if (lane !== -1 || this.#leaves === MAX_LANES) return lane;
      this.#grow();
    }
  }

  #firstFree(start: number, least: number): number {
    const ends = this.#ends;
    let node = this.#leaves + least;
    while (ends[node]! > start) {
      // To the next subtree on the right.
      while ((node & 1) === 1) node >>= 1;
      if (node === 0) return -1;
      node++;
    }
    while (node < this.#leaves) {
      node *= 2;
      if (ends[node]! > start) node++;
    }
    return node - this.#leaves;
  }

  #setEnd(lane: number, end: number): void {
    const ends = this.#ends;
    let node = this.#leaves + lane;
    ends[node] = end;
    for (node >>= 1; node >= 1; node >>= 1) {
      const least = Math.min(ends[2 * node]!, ends[2 * node + 1]!);
      if (ends[node] === least) return;
      ends[node] = least;
    }
  }

  #grow(): void {
    const before = this.#ends.subarray(this.#leaves);
    this.#leaves *= 2;
    this.#ends = new Float64Array(2 * this.#leaves).fill(-Infinity);
    this.#ends.set(before, this.#leaves);
    for (let node = this.#leaves - 1; node >= 1; node--) {
      this.#ends[node] = Math.min(this.#ends[2 * node]!, this.#ends[2 * node + 1]!);
    }
  }
}
