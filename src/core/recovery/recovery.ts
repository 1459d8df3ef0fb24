import { TracewrightError } from '../errors.js';
import { integerIn } from '../options/argument.js';

/** What was added to a stream to finish it. */
export interface RecoveredStream {
  /** The file that was completed. */
  path: string;
  /** Bytes that the ring still held. */
  bytes: number;
  /** Records that were added so that the stream ends. */
  addedRecords: number;
  /** Of those, the ones that end marks which were still pushed (ovni). */
  endedMarks?: number | undefined;
  /** Bytes of half a record that were cut off. */
  cutBytes?: number | undefined;
  /** The ring, if it is gone: what it held is lost. */
  lostRing?: string | undefined;
}

/** Result of a recovery. */
export interface Recovery {
  /** Streams that were completed. */
  streams: RecoveredStream[];
  /** Streams that never held a record, and rings without one, that were deleted. */
  emptied: string[];
  /** Records that the processes could not put into these rings, because they were full. Absent: none. */
  dropped?: number;
  /** What could not be recovered, and why; everything else was. */
  faults: TracewrightError[];
  /** Rings that are not believed, and why: another user may have put them there. Absent: none. */
  ignored?: TracewrightError[];
  /** Those of `ignored` that name this trace: what they hold may be missing in it. Absent: none. */
  ignoredOfTrace?: TracewrightError[];
}

export interface RecoverOptions {
  /** Where the rings are, when the process kept them elsewhere (`ringDir`). */
  ringDir?: string | undefined;
  /**
   * How long another recovery of the same trace is waited for, 0 to 2^31-1 milliseconds; default
   * 30,000. What it has done then is not done again.
   */
  waitMs?: number;
}

export const RECOVER_OPTIONS = ['ringDir', 'waitMs'] as const;

const DEFAULT_WAIT_MS = 30_000;

/** @throws TracewrightError for a `waitMs` out of its range. */
export function checkWait({ waitMs = DEFAULT_WAIT_MS }: RecoverOptions): number {
  return integerIn('waitMs', waitMs, 0, 2 ** 31 - 1);
}

/** The result of a recovery that has found nothing. */
export function nothingToRecover(): Recovery {
  return { streams: [], emptied: [], faults: [] };
}

/** An error of any kind as a fault of a recovery. */
export function asFault(path: string, error: unknown): TracewrightError {
  if (error instanceof TracewrightError) return error;
  const { message } = error as Error;
  return new TracewrightError('ERR_SYSTEM', message, { field: 'path', value: path, cause: error });
}
