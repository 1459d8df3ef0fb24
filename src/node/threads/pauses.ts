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
}

/**
 * Why a loop did not turn: StallCause in native/loop/loop_watch.h in its order, then what only JavaScript knows.
 */
export const STALL_CAUSES = ['code', 'wait', 'held', 'stop', 'debugger'] as const;

/** A type of marks that is recorded once it is over. */
export interface PastMarkKind {
  readonly type: number;
  readonly title: string;
  /** Names the stream and warnings: `garbage collections`. */
  readonly what: string;
  /** Added to a thread's number, which Linux keeps below 2^22, for the stream's. */
  readonly tidOffset: number;
  readonly labels: readonly (readonly [value: number, label: string])[];
}

/** Values are the kinds of collections. */
export const COLLECTIONS: PastMarkKind = {
  type: 1,
  title: 'Garbage collection',
  what: 'garbage collections',
  tidOffset: 1_000_000_000,
  labels: [
    [MINOR, 'minor (scavenge)'],
    [MINOR_MARK_SWEEP, 'minor (mark-sweep)'],
    [MAJOR, 'major (mark-sweep-compact)'],
    [INCREMENTAL, 'incremental marking'],
    [WEAK_CALLBACKS, 'weak callbacks'],
  ],
};

/** Values are positions in STALL_CAUSES plus 1: a mark is never 0. */
export const STALLS: PastMarkKind = {
  type: 2,
  title: 'Event loop blocked',
  what: 'stalls',
  tidOffset: 1_500_000_000,
  labels: STALL_CAUSES.map((cause, position) => [position + 1, cause]),
};
