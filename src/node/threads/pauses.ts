/** A garbage collection. Integers: nanoseconds of CLOCK_MONOTONIC. */
export interface Collection {
  readonly from: number;
  readonly to: number;
  /** One of the kinds below. */
  readonly kind: number;
}

/** V8's kinds of garbage collections, which are also Node's `NODE_PERFORMANCE_GC_…`. */
export const MINOR = 1;
export const MINOR_MARK_SWEEP = 2;
export const MAJOR = 4;
export const INCREMENTAL = 8;
export const WEAK_CALLBACKS = 16;

/** A turn of an event loop that took longer than the limit. Nanoseconds of CLOCK_MONOTONIC. */
export interface Stall {
  from: number;
  to: number;
  /** Of the thread. */
  cpu: number;
  /** A position in STALL_CAUSES, but never that of the debugger. */
  cause: number;
  /** Whether native code has recorded it as lasting. */
  recorded: boolean;
  /** Stacks that the thread had, and how often each was found: the most frequent first. */
  stacks: readonly (string | number)[];
  /** The contexts that were active when the stacks were taken, as Node keeps them. */
  contexts: readonly (object | number)[];
}

/**
 * Why a loop did not turn: StallCause in native/loop/loop_watch.h in its order, then what only JavaScript knows.
 */
export const STALL_CAUSES = ['code', 'wait', 'held', 'stop', 'debugger'] as const;
