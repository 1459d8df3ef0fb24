import { groupCounts } from '../../core/ring/target-group.js';
import { wrongOrder } from '../../core/errors.js';
import { currentProcess } from './process-note.js';

/** What became of the events of this process, of all its threads, those that have ended included. */
export interface ProcessStats {
  /** Bytes of events that are in the streams. */
  writtenBytes: number;
  /** Bytes of events on their way through the rings; also of threads that ended on a full disk. */
  pendingBytes: number;
  /** Events that found their ring full and could not wait; they are missing in the trace. */
  droppedEvents: number;
  /**
   * Bytes of events that the files had not taken when their threads ended, and that nobody waits to
   * write any more. They are in the rings' files, for `tracewright recover`.
   */
  unwrittenBytes: number;
  /** Failed attempts to write. */
  errors: number;
  lastError: string | undefined;
}

/**
 * What became of the events so far; after `procFini` as well, until the next `procInit`.
 *
 * @throws TracewrightError before `procInit`.
 */
export function procStats(): ProcessStats {
  const current = currentProcess();
  if (current === undefined) throw wrongOrder('procStats', 'procInit must be called first');
  const counts = groupCounts(current.group);
  return {
    writtenBytes: counts.bytes,
    pendingBytes: counts.pendingBytes,
    droppedEvents: counts.droppedRecords,
    unwrittenBytes: counts.leftBytes,
    errors: counts.errors,
    lastError: counts.lastError,
  };
}
