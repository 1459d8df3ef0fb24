// A traced process compares errors with these before it needs any other file of this directory.

/** The limit of errors about a trace that this very process writes, and no other that is alive. */
export const CLOSED_TRACE = 'a trace that this process has closed';

/** The field of errors about a ring that cannot be read. */
export const UNREADABLE_RING = 'ring';
