/** A difference of clocks that is a jump, and not the time between two readings, in ns. */
const JUMP = 1_000_000n;
/** Jumps that are kept: spans may have begun before some of them. */
const MAX_JUMPS = 256;

/** The wall clock against the time of the trace, from a moment on. */
interface Jump {
  from: bigint;
  offset: bigint;
}

/** What a file says of the wall clock: where its own time begins, and when the clock has jumped since. */
export class WallClock {
  #epoch = 0n;
  #jumps: Jump[] = [];

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.#epoch;
  }

  set epoch(value: bigint) {
    // A connection that is made again repeats it.
    if (value === this.#epoch) return;
    this.#epoch = value;
    this.#jumps = [];
  }

  /** Whether it has jumped, so that times differ from those since the epoch. */
  get hasJumps(): boolean {
    return this.#jumps.length > 0;
  }

  /**
   * Takes note of a clock record.
   *
   * @param at its time in the trace, in ns.
   * @param real the wall clock then, in ns since 1970; undefined: the record has no reading.
   */
  read(at: bigint, real: bigint | undefined): void {
    if (real === undefined) return;
    const offset = real - this.#epoch - at;
    const before = this.#jumps.at(-1)?.offset ?? 0n;
    const change = offset - before;
    if (change < JUMP && change > -JUMP) return;
    this.#jumps.push({ from: at, offset });
    if (this.#jumps.length > MAX_JUMPS) this.#jumps.shift();
  }

  /** What is to be added to a time of the trace, for nanoseconds since 1970. */
  offsetAt(time: bigint): bigint {
    for (let i = this.#jumps.length - 1; i >= 0; i--) {
      if (this.#jumps[i]!.from <= time) return this.#epoch + this.#jumps[i]!.offset;
    }
    return this.#epoch;
  }
}
