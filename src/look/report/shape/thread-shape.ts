/** Threads and their interruptions in a report, as `--json` prints them. */

import type { SpanKind } from '../../../spans/layout.js';
/** Stalls of the event loop, or garbage collections, of one name. */
export interface Interruption {
  name: string;
  count: number;
  total: number;
  max: number;
}

/** A thread, as far as the trace says it. */
export interface ThreadOfProcess {
  service: string | null;
  pid: number | null;
  thread: string;
}

/** The stalls or collections of one thread. */
export interface ThreadInterruption extends Interruption, ThreadOfProcess {
  kind: 'stall' | 'collection';
}

export interface NamedCount {
  name: string;
  count: number;
}

/** One of the longest stalls. */
export interface LongStall extends ThreadOfProcess {
  /** ISO time. */
  start: string;
  duration: number;
  /** docs/event-loop.md explains them; null: not recorded. */
  cause: string | null;
  /** Ns that the thread was on a CPU; null: not recorded. */
  cpu: number | null;
  /** It began before the first request of its process, shortly after the process. */
  atStart: boolean;
  /** Spans that ran on the thread, the innermost first. */
  ran: NamedCount[];
  /** Spans of the thread that were open before and after it, and requests that it had not read yet. */
  delayed: NamedCount[];
}

/** How much of the time of the slow spans of a group lay within stalls and collections. */
export interface SlowShare {
  name: string;
  kind: SpanKind | null;
  system: string | null;
  service: string | null;
  /** Spans of at least the group's p95. */
  count: number;
  time: number;
  /** On their own thread. */
  stalls: number;
  collections: number;
  /** In a call, while the called thread was stalled or collected garbage. */
  called: number;
  /** In any of these. */
  either: number;
}

export interface Interruptions {
  /** By name, of all threads. */
  stalls: Interruption[];
  collections: Interruption[];
  /** By thread and name: stalls first, those that took the most time first. */
  threads: ThreadInterruption[];
  /** The longest ten: those at the start of a process after all others. */
  longest: LongStall[];
  slow: SlowShare[];
}

export interface ThreadFigures {
  path: string;
  service: string | null;
  pid: number | null;
  thread: string;
  kind: 'thread' | 'states' | 'rank' | 'kernel';
  spans: number;
  /** Ns in which a span was open, a call was running, or the state was `running`. */
  busy: number;
  /** Of the time in which the process was recorded, from 0 to 1. */
  share: number;
  /** Share of time in which the event loop ran code; null: not recorded. */
  utilisation: number | null;
  stalls: number;
  collections: number;
}
