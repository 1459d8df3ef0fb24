import { CLOCK_JUMP } from '../layout.js';

/** Steps that are kept: spans may have begun before some of them. */
const MAX_STEPS = 256;

/** One moment of a clock record, in ns: 64 bits each. */
export interface ClockReading {
  /** Since 1970. */
  readonly real: bigint;
  /** Since the trace's epoch. The record itself may begin later. */
  readonly time: bigint;
}

/** From a moment of the trace on, what is added to its times, beyond the epoch. */
interface ClockStep {
  readonly from: bigint;
  readonly offset: bigint;
}

/** State with which a reader goes on in the middle of a trace. */
export interface ClockState {
  /** Of the first and of the last epoch packet, in ns since 1970. */
  first: bigint | undefined;
  epoch: bigint;
  steps: readonly ClockStep[];
}

/** Of a trace of which nothing has been read. */
export function noClock(): ClockState {
  return { first: undefined, epoch: 0n, steps: [] };
}

/** The wall clock of a trace: where its own time begins, and when the clock has jumped since. */
export class TraceClock {
  #first: bigint | undefined;
  #epoch: bigint;
  #steps: ClockStep[];

  constructor({ first, epoch, steps } = noClock()) {
    this.#first = first;
    this.#epoch = epoch;
    this.#steps = [...steps];
  }

  get state(): ClockState {
    return { first: this.#first, epoch: this.#epoch, steps: [...this.#steps] };
  }

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.#epoch;
  }

  set epoch(value: bigint) {
    this.#first ??= value;
    // A connection that is made again repeats it.
    if (value === this.#epoch) return;
    this.#epoch = value;
    this.#steps = [];
  }

  /** Whether times count from the first epoch alone. */
  get isPlain(): boolean {
    return this.#steps.length === 0 && (this.#first ?? 0n) === this.#epoch;
  }

  /** Takes note of a clock record. */
  read({ real, time }: ClockReading): void {
    const offset = real - this.#epoch - time;
    const change = offset - this.#stepAt(time);
    if (change < CLOCK_JUMP && change > -CLOCK_JUMP) return;
    const steps = this.#steps;
    let at = steps.length;
    while (at > 0 && steps[at - 1]!.from > time) at--;
    steps.splice(at, 0, { from: time, offset });
    if (steps.length > MAX_STEPS) steps.shift();
  }

  /** Ns to add to a time of the trace, for nanoseconds since 1970. */
  offsetAt(time: bigint): bigint {
    return this.#epoch + this.#stepAt(time);
  }

  /** The same, for nanoseconds since the first epoch. */
  offsetFromFirst(time: bigint): bigint {
    return this.offsetAt(time) - (this.#first ?? 0n);
  }

  #stepAt(time: bigint): bigint {
    for (let i = this.#steps.length - 1; i >= 0; i--) {
      if (this.#steps[i]!.from <= time) return this.#steps[i]!.offset;
    }
    return 0n;
  }
}
