import { readClocks } from '../../core/clock.js';
import type { StreamTrace } from '../../heph/write/stream.js';
import { CLOCK_BOOT, CLOCK_JUMP, CLOCK_MONOTONIC, CLOCK_REAL, CLOCK_TIME } from '../layout.js';

/** Nanoseconds between clock records. */
const INTERVAL = 60e9;
/** Readings that took longer do not say which moment they are of. */
const MAX_WIDTH = CLOCK_JUMP / 2n;

/** Whether two offsets between clocks, in nanoseconds, differ by more than readings do. */
export function isJump(left: bigint, right: bigint): boolean {
  const difference = left - right;
  return difference >= CLOCK_JUMP || difference <= -CLOCK_JUMP;
}

/** Nanoseconds since 1970 at the trace's time 0, by the clocks as they are now. */
export function epochNow({ clock, clockAtZero }: StreamTrace): bigint {
  const { real, stamp } = readClocks(clock);
  return real - stamp + clockAtZero;
}

/** When to record how the clocks go: from time to time, and after one of them has jumped. */
export class ClockJumps {
  readonly #trace: StreamTrace;
  #next = 0;
  #step = 0n;
  #sleep = 0n;
  /** The epoch by which later pieces and connections are read. */
  #epoch: bigint;
  /** Whether what `due` returned last must be known to those. */
  hasJumped = false;

  constructor(trace: StreamTrace) {
    this.#trace = trace;
    this.#epoch = trace.epochUnix ?? epochNow(trace);
  }

  /**
   * The fields of a clock record, if one is due.
   *
   * @param now nanoseconds since the trace's epoch.
   */
  due(now: number): readonly (readonly [name: string, value: bigint])[] | undefined {
    const { clock, clockAtZero } = this.#trace;
    const { boot, monotonic, real, stamp, width } = readClocks(clock);
    if (width > MAX_WIDTH) return undefined;
    const step = real - stamp;
    const sleep = boot - monotonic;
    if (now < this.#next && !isJump(step, this.#step) && !isJump(sleep, this.#sleep)) {
      return undefined;
    }
    this.#next = now + INTERVAL;
    this.#step = step;
    this.#sleep = sleep;
    this.hasJumped = isJump(step + clockAtZero, this.#epoch);
    if (this.hasJumped) this.#epoch = step + clockAtZero;
    return [
      [CLOCK_TIME, stamp > clockAtZero ? stamp - clockAtZero : 0n],
      [CLOCK_REAL, real],
      [CLOCK_MONOTONIC, monotonic],
      [CLOCK_BOOT, boot],
    ];
  }
}
