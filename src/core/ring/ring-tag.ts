import { clockNow } from '../clock.js';
import { systemThreadId } from '../system-thread.js';

/**
 * The part of a ring's file name that distinguishes it from other rings: process, thread and time. The
 * time is needed because a restarted container gives the same process and thread numbers again.
 */
export function ringTag(thread = systemThreadId()): string {
  return `${process.pid}-${thread}-${String(clockNow())}`;
}
