import { clockStep, insertStep, noPast } from './clock-record.js';
import type { ClockReading, ClockStep } from './clock-record.js';

/** Steps that are kept: spans may have begun before some of them. */
const MAX_STEPS = 256;

/** What a file says of the wall clock: where its own time begins, and when the clock has jumped since. */
export class WallClock {
  #epoch = 0n;
  #steps: ClockStep[] = [];
  #past = noPast();

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.#epoch;
  }

  set epoch(value: bigint) {
    // A connection that is made again repeats it.
    if (value === this.#epoch) return;
    this.#epoch = value;
    this.#steps = [];
    this.#past = noPast();
  }

  /** Whether it has jumped, so that times differ from those since the epoch. */
  get hasJumps(): boolean {
    return this.#steps.length > 0;
  }

  /** Takes note of a clock record. */
  read(reading: ClockReading): void {
    const step = clockStep(reading, this.#epoch, (time) => this.#stepAt(time), this.#past);
    if (step !== undefined) insertStep(this.#steps, step, MAX_STEPS);
  }

  /** What is to be added to a time of the trace, for nanoseconds since 1970. */
  offsetAt(time: bigint): bigint {
    return this.#steps.length === 0 ? this.#epoch : this.#epoch + this.#stepAt(time);
  }

  #stepAt(time: bigint): bigint {
    for (let i = this.#steps.length - 1; i >= 0; i--) {
      if (this.#steps[i]!.from <= time) return this.#steps[i]!.offset;
    }
    return 0n;
  }
}
