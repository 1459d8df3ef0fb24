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

/** The innermost code of the program that ran while a loop was blocked. */
export interface StallCode {
  /** Null: it has no name. */
  function: string | null;
  /** Script and line: `/app/search.js:12`. After native code the line is one at which the function went on. */
  line: string;
  /** The thread ran native code, or a loop that V8 cannot interrupt, which this function or one below it called. */
  isNative: boolean;
  /** Of code of a package: where the program's own code called it. */
  caller: string | null;
}

/** The stalls in which the same code of a service ran. */
export interface StallLine extends StallCode {
  service: string | null;
  count: number;
  total: number;
  max: number;
  /** Spans of the thread that were open at the end of each. */
  delayed: number;
  /** Whose code it was, by route, whether or not it was kept: those with the most stalls first. Empty: not recorded. */
  ranIn: NamedCount[];
  /** Requests that were open meanwhile and did not cause it, by route: those with the most first. */
  requests: DelayedRequests[];
  /** Ns that these waited while they were open. One below another counts with that. */
  waited: number;
}

/** Requests of one route that a stall delayed. */
export interface DelayedRequests extends NamedCount {
  /** How many the thread read only at its end: they waited before their span began. */
  unread: number;
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
  /** Whose code ran, `POST /coupon`, whether or not it was kept; null: it does not say. */
  request: string | null;
  /** Null: its record has no stack. */
  code: StallCode | null;
  /** Spans that ran on the thread, the innermost first. None of them is a call, which waits. */
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
  /** By the code that ran, of the longest thousand stalls: those that took the most time first. */
  lines: StallLine[];
  /** The longest ten: those at the start of a process after all others. */
  longest: LongStall[];
  slow: SlowShare[];
}

/** Code that ran, by the samples of a CPU profile: the innermost function of the program with what it called of Node. */
export interface ProfiledCode {
  service: string | null;
  /** Of the requests of one route; null: of the whole service. */
  route: string | null;
  /** Null: it has no name. */
  function: string | null;
  /** Script and line of the function; empty: it is none of a script. */
  line: string;
  samples: number;
  /** Ns of the samples. */
  time: number;
  /** Of the samples of the service, or of the route: from 0 to 1. */
  share: number;
}

/** Memory that was alive at the end, by the function of the program that had allocated it: estimates from samples. */
export interface Allocations extends Pick<ProfiledCode, 'service' | 'function' | 'line'> {
  bytes: number;
  objects: number;
  /** Of what was alive in the service: from 0 to 1. */
  share: number;
}

/** The memory of a thread, or of a process, as its loop's records have it once a second. Bytes. */
export interface MemoryCurve extends ThreadOfProcess {
  /** `heap` and `external` (outside of it, held by it) are the thread's, `resident` the process's. */
  kind: 'heap' | 'external' | 'resident';
  first: number;
  last: number;
  max: number;
  /** The limit of a heap; null: it was not recorded, or this is no heap. */
  limit: number | null;
  /** Growth in an hour, of the line through all points; null: of less than a minute. */
  hourly: number | null;
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
