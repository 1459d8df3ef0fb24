/** Lanes of a track at most: a lane is a u16. Rows that overlap more than that share the last one. */
const MAX_LANES = 1 << 16;
/** Rows keep the lanes below them for their descendants within so many lanes: few screens have more. */
const KEPT_LANES = 64;
/** So many lanes may be kept in any case; more only if this share of those there are is taken. */
const FEW_LANES = 8;
const LEAST_TAKEN = 0.75;

/** Gives rows of one track to lanes in which they do not overlap. Takes them in order of start. */
export class Lanes {
  count = 0;
  /**
   * A tree of the earliest end: leaf `#leaves + i` is the end of lane `i`, a node the least of its two
   * below. A lane that is not used yet has ended before everything.
   */
  #leaves = KEPT_LANES;
  #ends = new Float64Array(2 * KEPT_LANES).fill(-Infinity);
  /** Until when each of the first lanes is kept for the descendants of a row above it. */
  #kept = new Float64Array(KEPT_LANES).fill(-Infinity);

  /**
   * The lane that is taken from `start` until `end`: `least`, or else the first one after it that nobody keeps and that
   * has `depth` of them below it, which are kept until then. Without these, the first that is free.
   */
  take(start: number, end: number, least: number, depth: number): number {
    const isFree = least > 0 && least < KEPT_LANES && this.#ends[this.#leaves + least]! <= start;
    let lane = isFree ? least : this.#keep(start, end, least, depth);
    if (lane === -1 && least < MAX_LANES) lane = this.#find(start, least);
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
    copy.#kept = this.#kept.slice();
    return copy;
  }

  #keep(start: number, end: number, least: number, depth: number): number {
    const leaves = this.#leaves;
    const ends = this.#ends;
    const kept = this.#kept;
    // The node of the first lanes.
    if (ends[leaves / KEPT_LANES]! > start) return -1;
    const { count } = this;
    const most = count < FEW_LANES || count >= KEPT_LANES ? KEPT_LANES : count;
    let free = 0;
    let last = least;
    for (; last < most; last++) {
      if (ends[leaves + last]! > start || kept[last]! > start) free = 0;
      else if (++free > depth) break;
    }
    if (free <= depth) {
      last += depth - free;
      if (last >= KEPT_LANES || !this.#isMostlyTaken(start)) return -1;
    }
    if (depth > 0) kept.fill(end, last - depth + 1, last + 1);
    return last - depth;
  }

  #isMostlyTaken(start: number): boolean {
    const ends = this.#ends;
    const to = this.#leaves + this.count;
    let taken = 0;
    for (let lane = this.#leaves; lane < to; lane++) if (ends[lane]! > start) taken++;
    return taken >= LEAST_TAKEN * this.count;
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
