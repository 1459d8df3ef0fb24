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
