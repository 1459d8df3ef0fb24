/** A turn of an event loop that took longer than the limit. Nanoseconds of CLOCK_MONOTONIC. */
export interface Stall {
  from: number;
  to: number;
  /** Of the thread. */
  cpu: number;
  /** A StallCause of native/loop/loop_watch.h. */
  cause: number;
  /** Whether native code has recorded it as lasting. */
  recorded: boolean;
}
