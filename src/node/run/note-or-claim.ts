import { claimNote, getNote } from '../../core/process-notes.js';

const LONGEST_SET_UP_MS = 10_000;
const PAUSE_MS = 5;

/**
 * A note that one thread of the process puts and all read. Undefined: the calling thread is the one to
 * put it, or to put an empty one, which leaves it to the next. While another sets up what the note is
 * about, this waits.
 *
 * @throws when the other takes longer than ten seconds.
 */
export function noteOrClaim(name: string): string | undefined {
  const until = Date.now() + LONGEST_SET_UP_MS;
  for (;;) {
    const note = getNote(name);
    if (note !== '') return note;
    if (claimNote(name)) return undefined;
    if (Date.now() > until) throw new Error('another thread is still setting up the traces');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}
