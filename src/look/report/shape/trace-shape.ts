/** Single traces and spans of a report, as `--json` prints them. */

import type { ThreadOfProcess } from './thread-shape.js';
/** Name, system and target of a span. */
interface NamedSpan {
  name: string;
  /** Host and port that a call named by its method has asked. */
  target: string | null;
  service: string | null;
}

/** A span in the order of a tree. */
export interface TreeSpanFields extends NamedSpan {
  /** 0 for those at the top. */
  depth: number;
  /** Ns since the start of the trace. */
  start: number;
  duration: number;
  /** Ns of the critical path that this span itself took: what the trace waited for. */
  waited: number;
  status: 'unset' | 'ok' | 'error';
  unfinished: boolean;
  /** Its parent is not in the recording. */
  missingParent: boolean;
}

/** Who had the connection of a pool that a span waited for. */
export interface PoolHolder {
  /** Its request; null: it is not recorded. */
  name: string | null;
  traceId: string;
  /** For how many ns it had had it. */
  time: number;
  /** Who had it before, while the span waited; null: nobody, or that is not known. */
  before: PoolHolder | null;
}

/** A span of a slow trace. */
export interface TreeRow extends TreeSpanFields {
  /**
   * `stall`, `collection`: the thread of a called service was stalled, or collected garbage, while its
   * request had not begun or had ended. `blocked`: something else kept the event loop of the span's own thread; of
   * a `stall` there it is not known what. Such a row is no span of the trace.
   */
  kind: 'span' | 'stall' | 'collection' | 'blocked';
  /** Ns in which nothing ran below it. */
  self: number;
  /** `http`, `redis`; null: it names none. */
  system: string | null;
  /** Of a request: ns in which its thread was stalled, or collected garbage. */
  stalls: number;
  collections: number;
  /** How many siblings of one name the row is for. Their times are summed, their children are left out. */
  repeated: number;
  /** Of the longest of these waits for a pool: who had the connection. Null: it is none, or that is not known. */
  heldBy: PoolHolder | null;
}

/** A span of a trace, for its tree. `target` is set by `nameTargets`; the pauses are those that are wanted. */
export interface TreeSpan extends Omit<
  TreeRow,
  'depth' | 'duration' | 'self' | 'waited' | 'repeated' | 'heldBy'
> {
  /** Number of the parent among the spans; -1: it has none, or it is not there. */
  parent: number;
  /** Whether the parent is of another process, or has sent a message: it does not wait for all of the span. */
  isRemote: boolean;
  /** Ns. */
  end: number;
  /** Which of the spans had the thread meanwhile: the time is its own. */
  runsFor?: number | undefined;
  /** Of a blocked span: the row of the stall. */
  stall?: number;
  /** Of a wait for a pool. */
  heldBy?: PoolHolder | null;
}

/** Time of the critical path by the name of the span that took it. */
export interface WaitedFor extends Pick<TreeRow, 'kind' | 'system' | keyof NamedSpan> {
  /** Whether it is the time of the span that waited, in which nothing ran below it. */
  isItself: boolean;
  time: number;
  /** From 0 to 1. */
  share: number;
}

export interface SlowTrace {
  /** Null: the span belongs to no trace. */
  traceId: string | null;
  name: string;
  /** Of a request whose name has no path. */
  path: string | null;
  service: string | null;
  /** ISO time. */
  start: string;
  duration: number;
  spans: number;
  /** Ns in which the thread of its slow span was stalled. */
  stalls: number;
  /** Ns in which that thread collected garbage. */
  collections: number;
  waitedFor: WaitedFor[];
  /** The stall or collection that has delayed it, if only these were asked for. */
  delayedBy: (ThreadOfProcess & { name: string; start: string; duration: number }) | null;
  rows: TreeRow[];
  /** Spans of the trace that `rows` leaves out. */
  omitted: number;
}

/** Its `depth` is 0 if no span above it is listed. The name of a request has the route of its handler. */
export interface OpenSpan extends Pick<TreeRow, 'depth' | 'system' | keyof NamedSpan> {
  /** Of a request whose name has no path. */
  path: string | null;
  thread: string;
  /** ISO time. */
  start: string;
  /** Ns from its start to the last sign of life. */
  age: number;
  /** Whether its process runs. */
  isNow: boolean;
  isRequest: boolean;
  traceId: string | null;
}

export interface OpenSpans {
  count: number;
  /** How many of them are requests. */
  requests: number;
  /** The oldest first, each followed by those below it. */
  spans: OpenSpan[];
  /** How many are not looked at, because there are too many. */
  omitted: number;
}
