import type { Configuration } from './configuration.js';
import {
  CALL_HEAD_BYTES,
  COUNTER_BYTES,
  MASK_COUNTERS,
  MASK_CPU_TIME,
  MASK_STATUSES,
  MASK_THREAD,
  MASK_WALL_TIME,
  THREAD_BYTES,
  TIMES_BYTES,
} from '../layout.js';

/** In place of a start's nanoseconds: the start is the stop (native/ring/ring.h). */
export const NO_START = 0xffff_ffff;

/**
 * What stands in front of the arguments of every record of a rank. The mask is the same for all of
 * them, and so are the places, in bytes from the start of a record; -1 is what they do not have.
 */
export interface RecordHead {
  readonly mask: number;
  readonly statuses: boolean;
  readonly thread: number;
  readonly cpu: number;
  readonly wall: number;
  readonly counters: number;
  readonly counterCount: number;
  /** Where the arguments begin. */
  readonly bytes: number;
}

/**
 * @param threads whether records hold a thread; libdumpi's always do.
 * @param counterCount counters of every record; 0: none.
 */
export function recordHead(
  { timestamps, statuses }: Pick<Configuration, 'timestamps' | 'statuses'>,
  threads: boolean,
  counterCount: number,
): RecordHead {
  let bytes = CALL_HEAD_BYTES;
  let mask = 0;
  const place = (present: boolean, bit: number, size: number): number => {
    if (!present) return -1;
    mask |= bit;
    bytes += size;
    return bytes - size;
  };
  const thread = place(threads, MASK_THREAD, THREAD_BYTES);
  const cpu = place(timestamps === 'cpu' || timestamps === 'full', MASK_CPU_TIME, TIMES_BYTES);
  const wall = place(timestamps === 'wall' || timestamps === 'full', MASK_WALL_TIME, TIMES_BYTES);
  const counters = place(counterCount > 0, MASK_COUNTERS, 1 + counterCount * COUNTER_BYTES);
  // As libdumpi: `success` is 1, `enable` 3, and either says that statuses are stored.
  if (statuses !== 'disable') mask |= statuses === 'success' ? 1 : MASK_STATUSES;
  return {
    mask,
    statuses: statuses !== 'disable',
    thread,
    cpu,
    wall,
    counters,
    counterCount,
    bytes,
  };
}
