/** A difference of clocks that is a jump, and not the time between two readings, in ns. */
const JUMP = 1_000_000;
/** Jumps that are kept: spans may have begun before some of them. */
const MAX_JUMPS = 256;

/** What a worker needs to know of the records before its own. */
export interface ClockState {
  /** Of the first epoch packet, in ns since 1970. */
  epoch: bigint | undefined;
  /** What later epochs differ from the first, in ns. */
  shift: number;
  /** The wall clock against the trace's time: from which time on, and by how many ns. */
  jumps: readonly { from: number; offset: number }[];
}

/** When an event of a Heph file was: its time, the epochs and the clock records before it. */
export class TraceClock {
  #state: { epoch: bigint | undefined; shift: number; jumps: { from: number; offset: number }[] };

  constructor(state: ClockState = { epoch: undefined, shift: 0, jumps: [] }) {
    this.#state = { ...state, jumps: [...state.jumps] };
  }

  get state(): ClockState {
    const { epoch, shift, jumps } = this.#state;
    return { epoch, shift, jumps: [...jumps] };
  }

  get isPlain(): boolean {
    return this.#state.shift === 0 && this.#state.jumps.length === 0;
  }

  noteEpoch(epoch: bigint): void {
    const state = this.#state;
    state.epoch ??= epoch;
    const shift = Number(epoch - state.epoch);
    // A connection that is made again repeats it.
    if (shift === state.shift) return;
    state.shift = shift;
    state.jumps = [];
  }

  /** A clock record: the wall clock in ns since 1970 at a time of the trace. */
  noteClock(at: bigint, real: bigint): void {
    const { epoch = 0n, shift, jumps } = this.#state;
    const offset = Number(real - epoch - at) - shift;
    if (Math.abs(offset - (jumps.at(-1)?.offset ?? 0)) < JUMP) return;
    jumps.push({ from: Number(at), offset });
    if (jumps.length > MAX_JUMPS) jumps.shift();
  }

  /** What is added to a time of the trace to have ns since its first epoch. */
  offsetAt(time: number): number {
    const { shift, jumps } = this.#state;
    for (let i = jumps.length - 1; i >= 0; i--) {
      if (jumps[i]!.from <= time) return shift + jumps[i]!.offset;
    }
    return shift;
  }
}
