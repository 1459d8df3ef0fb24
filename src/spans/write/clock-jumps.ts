import { readClocks } from '../../core/clock.js';
import { CLOCK_BOOT, CLOCK_MONOTONIC, CLOCK_REAL } from '../layout.js';

/** Nanoseconds between clock records. */
const INTERVAL = 60e9;
/** A jump of a clock against another in nanoseconds: less is the time between two readings. */
const JUMP = 1_000_000n;

/** Whether two offsets between clocks, in nanoseconds, differ by more than readings do. */
export function isJump(left: bigint, right: bigint): boolean {
  const difference = left - right;
  return difference >= JUMP || difference <= -JUMP;
}

/** When to record how the clocks go: from time to time, and after one of them has jumped. */
export class ClockJumps {
  readonly #clocks = new BigUint64Array(3);
  #next = 0;
  #step = 0n;
  #sleep = 0n;

  /**
   * What a clock record says, if one is due.
   *
   * @param now nanoseconds since the trace's epoch.
   */
  due(now: number): readonly (readonly [name: string, value: bigint])[] | undefined {
    readClocks(this.#clocks);
    const [monotonic, real, boot] = this.#clocks as unknown as [bigint, bigint, bigint];
    const step = real - monotonic;
    const sleep = boot - monotonic;
    if (now < this.#next && !isJump(step, this.#step) && !isJump(sleep, this.#sleep)) {
      return undefined;
    }
    this.#next = now + INTERVAL;
    this.#step = step;
    this.#sleep = sleep;
    return [
      [CLOCK_MONOTONIC, monotonic],
      [CLOCK_REAL, real],
      [CLOCK_BOOT, boot],
    ];
  }
}
