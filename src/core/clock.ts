import { core } from './addon.js';

/**
 * Nanoseconds of CLOCK_MONOTONIC: from the CPU's counter where the kernel keeps time by it, otherwise
 * from the kernel.
 */
export function clockNow(): bigint {
  return core.clockNow();
}

/** Nanoseconds of CLOCK_MONOTONIC by the clock that a ring's option `clock` names. */
export function readClock(clock: 'scaled' | 'monotonic'): bigint {
  return clock === 'monotonic' ? core.kernelClockNow() : core.clockNow();
}

/** Nanoseconds since 1970. */
export function unixNow(): bigint {
  return core.wallClock();
}

/**
 * Reads CLOCK_MONOTONIC, nanoseconds since 1970 and nanoseconds since the start of the system, with the
 * time in suspend, all of one moment.
 */
export function readClocks(to: BigUint64Array): void {
  core.readClocks(to);
}

/** Nanoseconds that the process, or this thread, has spent on a CPU. */
export function cpuTime(ofThread: boolean): number {
  return core.cpuClock(ofThread);
}
