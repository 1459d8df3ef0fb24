/** How often something happened, and the nanoseconds that it took together. */
export interface TimeSums {
  ns: number;
  count: number;
}

/** What an event loop did within a time. All in nanoseconds but for the number of turns. */
export interface LoopSample {
  /** Of CLOCK_MONOTONIC, as is `to`. */
  from: number;
  to: number;
  /** Time in which it ran code. */
  busy: number;
  turns: number;
  /** Of all turns. */
  longest: number;
  /** What an event at a random moment waited on average. */
  delay: number;
}
