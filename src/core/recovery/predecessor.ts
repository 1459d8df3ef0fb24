import { readdirSync } from 'node:fs';
import { TracewrightError } from '../errors.js';
import { hasCode } from '../files/system-error.js';
import { claimNote, putNote } from '../process-notes.js';
import { CLOSED_TRACE, UNREADABLE_RING } from './recovery-errors.js';
import type { Recovery, RecoverOptions } from './recovery.js';

// A writer needs no more of recovery than this file, unless a process has left something.

/** How long the recovery before a trace is opened waits for another one, in milliseconds. */
export const OPENING_WAIT_MS = 1000;

/** Whether a directory has files named like rings, or cannot be read, which recovery then reports. */
export function mayHoldRings(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => name.endsWith('.ring'));
  } catch (error) {
    return !hasCode(error, 'ENOENT');
  }
}

/**
 * Recovers what a dead predecessor left in a place that is about to be used again; what a live
 * process writes there is left alone.
 *
 * @returns false when a process other than this one is alive and writes there, or recovers it for
 *   longer than can be waited.
 * @throws TracewrightError `ERR_SYSTEM` when a ring there cannot be read.
 */
export function recoverPredecessor(
  recover: (options: RecoverOptions) => Recovery,
  ringDir?: string,
): boolean {
  try {
    const { ignored } = recover({
      waitMs: OPENING_WAIT_MS,
      ...(ringDir === undefined ? {} : { ringDir }),
    });
    if (ignored !== undefined) warnOfIgnored(ignored);
    return true;
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    if (error.code === 'ERR_TIMEOUT') return false;
    if (error.field === UNREADABLE_RING) throw error;
    return error.code !== 'ERR_ORDER' || error.limit === CLOSED_TRACE;
  }
}

/** Names the note by which the threads of a process warn once. */
const WARNED = 'core.ignored-rings';

/** Warns, once in a process, of rings that are not believed. Others may add to them at any time. */
export function warnOfIgnored(ignored: readonly TracewrightError[]): void {
  const [first] = ignored;
  if (first === undefined || !claimNote(WARNED)) return;
  putNote(WARNED, 'warned');
  const others = ignored.length === 1 ? '' : `, and so are ${ignored.length - 1} others`;
  process.emitWarning(first.message + others, {
    type: 'TracewrightWarning',
    code: 'TRACEWRIGHT_RING_IGNORED',
  });
}
