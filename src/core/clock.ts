import { core } from './addon.js';

export const {
  /**
   * Nanoseconds of CLOCK_MONOTONIC: from the CPU's counter where the kernel keeps time by it, otherwise
   * from the kernel.
   */
  clockNow,
  /** Nanoseconds since 1970. */
  wallClock: unixNow,
  /** Nanoseconds that the process, or this thread, has spent on a CPU. */
  cpuClock: cpuTime,
} = core;

/** Nanoseconds of CLOCK_MONOTONIC by the clock that a ring's option `clock` names. */
export function readClock(clock: 'scaled' | 'monotonic'): bigint {
  return clock === 'monotonic' ? core.kernelClockNow() : core.clockNow();
}

/** Readings of the clocks at one moment, in nanoseconds. */
interface ClockReadings {
  /** CLOCK_MONOTONIC. */
  readonly monotonic: bigint;
  /** Since 1970. */
  readonly real: bigint;
  /** Since the start of the system, with the time in suspend. */
  readonly boot: bigint;
  /** CLOCK_MONOTONIC by the clock that stamps records. */
  readonly stamp: bigint;
  /** How long the readings took: the tightest of several brackets. */
  readonly width: bigint;
}

const words = new BigUint64Array(5);

/**
 * Reads all clocks in one native bracket: between two calls from here the thread may be stopped for any
 * time.
 *
 * @param clock which one stamps the records.
 */
export function readClocks(clock: 'scaled' | 'monotonic'): ClockReadings {
  core.readClocks(words);
  const [monotonic, real, boot, scaled, width] = words as unknown as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  return { monotonic, real, boot, stamp: clock === 'monotonic' ? monotonic : scaled, width };
}
