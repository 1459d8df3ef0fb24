import type { Configuration, Setting } from './configuration.js';
import {
  CALL_HEAD_BYTES,
  CALL_MASK_OFFSET,
  COUNTER_BYTES,
  MASK_COUNTERS,
  MASK_CPU_TIME,
  MASK_STATUSES,
  MASK_THREAD,
  MASK_WALL_TIME,
  THREAD_BYTES,
  TIMES_BYTES,
} from '../layout.js';

/**
 * Fields before the arguments in the records of a rank. Their offsets are the same, in bytes from the
 * start of a record; -1 is what they do not have. So is the mask, but for its bits of the statuses.
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
  const offsetIf = (present: boolean, bit: number, size: number): number => {
    if (!present) return -1;
    mask |= bit;
    bytes += size;
    return bytes - size;
  };
  const thread = offsetIf(threads, MASK_THREAD, THREAD_BYTES);
  const cpu = offsetIf(timestamps === 'cpu' || timestamps === 'full', MASK_CPU_TIME, TIMES_BYTES);
  const wall = offsetIf(
    timestamps === 'wall' || timestamps === 'full',
    MASK_WALL_TIME,
    TIMES_BYTES,
  );
  const counters = offsetIf(counterCount > 0, MASK_COUNTERS, 1 + counterCount * COUNTER_BYTES);
  return {
    mask: mask | statusMask(statuses),
    statuses: statuses !== 'disable',
    thread,
    cpu,
    wall,
    counters,
    counterCount,
    bytes,
  };
}

/** As libdumpi: `success` is 1, `enable` 3, and either says that statuses are stored. */
function statusMask(statuses: Setting): number {
  return statuses === 'disable' ? 0 : statuses === 'success' ? 1 : MASK_STATUSES;
}

/** The head of records that store statuses, or do not: no offset changes. */
export function withStatuses(head: RecordHead, statuses: Setting): RecordHead {
  const mask = (head.mask & ~MASK_STATUSES) | statusMask(statuses);
  return { ...head, mask, statuses: statuses !== 'disable' };
}

/** Writes the head of a record, without times and counters. */
export function writeHead(
  head: RecordHead,
  view: DataView,
  at: number,
  label: number,
  thread: number,
): void {
  view.setUint16(at, label);
  view.setUint8(at + CALL_MASK_OFFSET, head.mask);
  if (head.thread !== -1) view.setUint16(at + head.thread, thread);
}
