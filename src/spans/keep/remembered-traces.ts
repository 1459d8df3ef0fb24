/** Traces that are remembered, of all and of those with the same lowest bits of their ids. Powers of two. */
const REMEMBERED = 1 << 14;
const OF_A_SET = 8;
const SETS = REMEMBERED / OF_A_SET;

/** The last traces of which something is known, by the low half of their ids. */
export class RememberedTraces {
  readonly ids = new Int32Array(2 * REMEMBERED);
  /** Of each set: which one goes next. */
  readonly oldest = new Uint8Array(SETS);

  add(t2: number, t3: number): void {
    const set = t3 & (SETS - 1);
    const oldest = this.oldest[set]!;
    this.oldest[set] = (oldest + 1) & (OF_A_SET - 1);
    const at = 2 * (set * OF_A_SET + oldest);
    this.ids[at] = t2;
    this.ids[at + 1] = t3;
  }

  has(t2: number, t3: number): boolean {
    const ids = this.ids;
    const from = 2 * OF_A_SET * (t3 & (SETS - 1));
    for (let at = from; at < from + 2 * OF_A_SET; at += 2) {
      if (ids[at + 1] === t3 && ids[at] === t2) return true;
    }
    return false;
  }
}
