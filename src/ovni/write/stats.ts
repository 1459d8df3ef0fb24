import { groupCounts } from '../../core/native-calls.js';
import { wrongOrder } from '../../core/errors.js';
import { currentProcess } from './process-note.js';

/** Counts over all threads of this process, including those that have ended. */
export interface ProcessStats {
  /** Bytes of events that are in the streams. */
  writtenBytes: number;
  /** Bytes of events in the rings; also of threads that ended on a full disk. */
  pendingBytes: number;
  /** Events that were dropped because their ring was full. */
  droppedEvents: number;
  /**
   * Bytes of events that could not be written before their threads ended, and that the process no
   * longer tries to write. They are in the rings' files; `tracewright recover` appends them.
   */
  unwrittenBytes: number;
  /** Failed attempts to write. */
  errors: number;
  lastError: string | undefined;
}

/**
 * Counts of the events so far, also after `procFini`, until the next `procInit`.
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
