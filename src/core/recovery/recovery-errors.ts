import { TracewrightError } from '../errors.js';

// A traced process compares errors with these before it needs any other file of this directory.

/** The limit of errors about a trace that this very process writes, and no other that is alive. */
export const CLOSED_TRACE = 'a trace that this process has closed';

/** The field of errors about a ring that cannot be read. */
export const UNREADABLE_RING = 'ring';

/** The field of errors about a ring that is not believed. */
export const DOUBTED_RING = 'owner of the ring';

/** Whether it is about a ring that is not believed. */
export function isDoubt(error: unknown): error is TracewrightError {
  return error instanceof TracewrightError && error.field === DOUBTED_RING;
}
