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
 * Recovers what a dead predecessor left at a path that is about to be used again; what a live
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
    const options = { waitMs: OPENING_WAIT_MS, ringDir };
    const done = recover(options);
    warnOfDamage(done);
    warnOfIgnored(done.ignored ?? []);
    return true;
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    if (error.code === 'ERR_TIMEOUT') return false;
    if (error.field === UNREADABLE_RING) throw error;
    return error.code !== 'ERR_ORDER' || error.limit === CLOSED_TRACE;
  }
}

/** Names the notes by which the threads of a process warn once. */
const IGNORED = 'core.ignored-rings';
const DAMAGED = 'core.damaged-traces';

/** Warns, once in a process, of what a recovery that nobody asked for has found damaged or lost. */
export function warnOfDamage({ faults, streams }: Recovery): void {
  const lost = streams.flatMap(({ path, lostRing }) =>
    lostRing === undefined
      ? []
      : [`${path}: its ring ${lostRing} is missing, what it held is lost`],
  );
  const [first, ...others] = [...faults.map(({ message }) => message), ...lost];
  const more = others.length === 0 ? '' : `. ${others.length} more: run \`tracewright recover\``;
  warnOnce(DAMAGED, 'TRACEWRIGHT_TRACE_DAMAGED', first && first + more);
}

/** Warns, once in a process, of rings that are not believed. Others may add to them at any time. */
export function warnOfIgnored([first, ...others]: readonly TracewrightError[]): void {
  const more = others.length === 1 ? ', and so is 1 other' : `, and so are ${others.length} others`;
  const message = first && first.message + (others.length === 0 ? '' : more);
  warnOnce(IGNORED, 'TRACEWRIGHT_RING_IGNORED', message);
}

function warnOnce(note: string, code: string, message: string | undefined): void {
  if (message === undefined || !claimNote(note)) return;
  putNote(note, 'warned');
  process.emitWarning(message, { type: 'TracewrightWarning', code });
}
