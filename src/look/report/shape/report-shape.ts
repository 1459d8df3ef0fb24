import type {
  Interruptions,
  MemoryCurve,
  Allocations,
  ProfiledCode,
  ThreadFigures,
  ThreadOfProcess,
} from './thread-shape.js';
import type { WaitedFor, SlowTrace, OpenSpans } from './trace-shape.js';
import type { Finding } from './finding-shape.js';
import type { SpanKind } from '../../../spans/layout.js';
import type { SourceState } from '../../index/look-index.js';

/** How spans are grouped. */
export type GroupBy = 'route' | 'name' | 'service' | 'attribute';

/** A statement of a database, a service or a queue that calls have asked. */
export interface CalleeName {
  name: string;
  system: string | null;
  /** Host and port that a call named by its method has asked. */
  target: string | null;
}

/** A callee, and the calls of it that requests made: an estimate. */
export interface Callee extends CalleeName {
  /** Of those that called it. */
  service: string | null;
  count: number;
  /** Not all requests of the routes that call it were looked at. */
  isEstimate: boolean;
  /** The service whose requests these calls became; null: it is not recorded. */
  reached: string | null;
  /** Calls a request, of the routes that call it. */
  perRequest: number;
  /** Ns of all calls, and of one. */
  total: number;
  p95: number;
  /** Routes that call it, and how often a request of them does. */
  users: { name: string; service: string | null; perRequest: number }[];
  /** Values of `--where` that select its calls, also those outside of requests. */
  where: string[];
}

/** Latency of a set of spans, in nanoseconds. */
interface Latency {
  count: number;
  errors: number;
  /** Per second in which the service was recorded. */
  rate: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  total: number;
}

/** Waits of a group's spans, in their own process and in those that they called. */
export interface GroupWaits {
  /** How many spans were looked at, those that met a stall first; 0: none. */
  sampled: number;
  /** The longest first. Their times add up to no more than that of all recorded spans. */
  waitedFor: WaitedFor[];
  /**
   * The part of their time in which others blocked an event loop, from 0 to 1. Exact, unless more spans met a stall than
   * were looked at. Null: none was looked at.
   */
  blocked: { share: number; isEstimate: boolean } | null;
}

/** What requests of a group led through, from the top: ns of one on its critical path, or samples of all. */
export interface FlameNode extends CalleeName, Pick<WaitedFor, 'kind' | 'service'> {
  depth: number;
  self: number;
  /** Of it and of all below it. */
  total: number;
}

/** A row of the table of groups. */
export interface Group extends Latency, GroupWaits {
  name: string;
  service: string | null;
  /** Null: it is a service, with spans of several kinds. */
  kind: SpanKind | null;
  /** `http`, `redis`; null: the spans name none. */
  system: string | null;
  /** How many spans are recorded: of a sampled service fewer than `count`. */
  recorded: number;
  /** How many were not kept, only counted: with any, percentiles and `max` come from histograms. */
  notKept: number;
  /** Of the time of all groups, from 0 to 1. */
  share: number;
  /** How many names share the row, because there are too many; null: it is of one name. */
  folded: number | null;
  /** Values of `--where` that select its spans; null: there are none. */
  where: string[] | null;
  /** Calls of other services, databases and queues that a request makes; null: none was looked at. */
  calls: number | null;
  /** Share of its requests that were answered with a status of 4xx; null: they have none. An estimate of many. */
  refused: number | null;
}

/** How the memory of a killed process's group was: a cgroup of Linux. */
export interface MemoryEnd {
  /** Bytes; null: it has none of its own. */
  limit: number | null;
  /** Of the limit, when it was read last; null: that is not known. */
  share: number | null;
  /** The kernel has killed the process for want of memory, as another one knows. */
  isKilled: boolean;
}

/** A trace that was read. */
export interface ReportSource {
  path: string;
  /** Sources of one process have the same number; null: it has threads of several. */
  process: number | null;
  format: string;
  service: string | null;
  host: string | null;
  pid: number | null;
  state: SourceState;
  /** Its process ran out of heap: V8's limit in MiB; null: it did not, or that is not known. */
  heapLimit: number | null;
  /** Its process was killed, and memory may be why; null: nothing says so. */
  memoryEnd: MemoryEnd | null;
  /** Ns of the window in which its process was recorded. */
  recorded: number;
  /** Of a living process: what it had recorded until then was read, as an ISO time; null: it has ended. */
  until: string | null;
  /** Its service records only a share of its traces, null if that is not known; null: it records all of them. */
  sampled: { ratio: number | null } | null;
  /** Earlier pieces of its trace that are deleted, and what they had at least; null: none. */
  deleted: { pieces: number; records: number } | null;
  rows: number;
  /** Ns that were added to its times, because its host's clock differs from that of the first host. */
  clockOffset: number;
  /** The offset is right within so many ns; null: no call between hosts shows it. */
  clockError: number | null;
}

/** Requests of one route. */
export interface FailedRequests {
  name: string;
  service: string | null;
  count: number;
}

/** Errors of one service with one type, message and frame. One that passed through several spans counts once. */
export interface ErrorType {
  /** `error.type`, or the type of the exception; null: nothing says it. */
  type: string | null;
  /** The first line of its message, with numbers, ids and quoted values as `?`; null: none is recorded. */
  message: string | null;
  /** `reserve (/app/stock.js:12:9)`: the first frame of its stack that is the program's own; null: no stack is recorded. */
  frame: string | null;
  /** Of the innermost spans that failed, the most frequent name, and how many names they have. */
  name: string;
  names: number;
  service: string | null;
  count: number;
  /** The routes of which requests failed because of it, and how many, most first. */
  requests: FailedRequests[];
  /** The same of requests below which it occurred, and which have not failed: they caught it. */
  caught: FailedRequests[];
  /** ISO times: when the first and the last of these spans ended. */
  first: string;
  last: string;
  /** Id of the trace of the last one; null: it has none. */
  example: string | null;
  /** Whether none such ended before the window; null: the window begins with the recording. */
  isNew: boolean | null;
  /** Values of `--where` that select them. */
  where: string[];
}

/** Why spans failed. */
export interface FailedSpans {
  count: number;
  /** How many of them `types` is about, taken evenly. */
  read: number;
  /** ISO time: errors are new that did not occur before it. Null: the window begins with the recording. */
  newSince: string | null;
  /** The most frequent first. */
  types: ErrorType[];
}

/** A part of some time that had to do with spans of a name. */
export interface TimeShare {
  name: string;
  time: number;
  /** From 0 to 1. */
  share: number;
}

/** Waits for connections of the pools of one system. */
export interface PoolWaits {
  /** `postgresql pool` */
  name: string;
  service: string | null;
  /** How many waits are recorded: those of a millisecond or more. */
  count: number;
  total: number;
  max: number;
  /** How many were looked at, taken evenly from their time, and of how many of these it is known who held the connection. */
  looked: number;
  sampled: number;
  /** The requests that waited. */
  waited: TimeShare[];
  /** The requests that had the connections meanwhile. */
  held: TimeShare[];
}

/** Two recordings of the same services, one after the other. */
export interface EarlierAndLater {
  services: string[];
  /** Paths. */
  before: string[];
  after: string[];
}

export interface Completeness {
  spans: number;
  traces: number;
  /** Traces in which a parent is missing, or of which a span began before what is left of the recording. */
  incompleteTraces: number;
  /** Spans whose parent is not in the recording. They are never taken for roots. */
  missingParents: number;
  /** Spans that began before what is left: those below them may be deleted. */
  begunBefore: number;
}

export interface MpiCall extends Omit<Latency, 'errors' | 'rate'> {
  name: string;
  /** Bytes that the calls say to send or to receive; null if the call has none, or a type is unknown. */
  bytes: number | null;
}

/** Messages and bytes from one rank to another. */
export interface MpiTraffic {
  from: number;
  to: number;
  messages: number;
  /** Null: a datatype is unknown. */
  bytes: number | null;
}

export interface MpiRun {
  path: string;
  ranks: number;
  calls: MpiCall[];
  traffic: MpiTraffic[];
}

export interface ReportedLoss {
  path: string;
  count: number | null;
  reason: string;
  /** It was recorded, and cannot be read: the reason names file and byte. */
  unreadable: boolean;
}

/** A figure of a thread: the highest in each piece of the window, or null. */
export interface ThreadCurve extends ThreadOfProcess {
  /** The limit of a heap; null: it was not recorded, or this is no heap. */
  limit: number | null;
  values: (number | null)[];
}

/** Requests, or other spans of the groups, by the time of their start: in equal pieces of the window. */
export interface Timeline {
  /** Ns of one piece. */
  width: number;
  count: number[];
  errors: number[];
  /** Answered with a status of 4xx: an estimate of many. */
  refused: number[];
  /** Ns, within 1 %; null: none began then. */
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
  /** The share of time in which event loops ran code, and bytes of heaps: the highest six of each. */
  loops: ThreadCurve[];
  heaps: ThreadCurve[];
}

/** Grows when a field changes its meaning, or goes. */
export const REPORT_VERSION = 2;

/** A service that several runs of the hook have recorded, and their directories, the first one first. */
export interface ServiceRuns {
  service: string;
  paths: string[];
}

/** An attribute that was asked for and that no span has, and one that is called nearly so. */
export interface UnknownAttribute {
  name: string;
  near: string;
}

/** The object that `report --json` prints. All durations are in nanoseconds. */
export interface Report {
  /** Of this shape. */
  version: typeof REPORT_VERSION;
  /** ISO time with nanoseconds. */
  from: string;
  to: string;
  /** Ns. */
  length: number;
  by: GroupBy;
  /** Whose values the groups have, if they are by attribute. */
  attributes: readonly string[];
  /** Calls of libraries that no span asked for: how many have ended, and their ns together. */
  outside: { count: number; time: number };
  /** Whether the percentiles are exact. Otherwise they are within 1 %. */
  exact: boolean;
  /** Requests that were not kept: counts, rates and percentiles of groups have them, from histograms. */
  notKept: number;
  /** How many of them were slow or had failed, and were above the limit of kept traces. */
  aboveLimit: number;
  /** Services, or else paths, whose last counts of such requests a kill has lost. */
  lostCounts: string[];
  sources: ReportSource[];
  /** Null: these are not two recordings of the same services. */
  recordedTwice: EarlierAndLater | null;
  /** Services that were recorded more than once. */
  runs: ServiceRuns[];
  /** Attributes of `--where` that no span has, if nothing was selected: perhaps slips. */
  unknownAttributes: UnknownAttribute[];
  /** Services, or else paths, whose requests have no ids, and no children. */
  withoutContext: string[];
  /** What is wrong, the worst first: at most seven. */
  findings: Finding[];
  groups: Group[];
  callees: Callee[];
  errors: FailedSpans;
  pools: PoolWaits[];
  slowest: SlowTrace[];
  /** `delayed`: only stalls or collections were asked for, and these are the traces that they delayed. */
  slowestOf: 'spans' | 'delayed';
  interruptions: Interruptions;
  threads: ThreadFigures[];
  /** Those that grew most first. */
  profile: ProfiledCode[];
  allocations: Allocations[];
  memory: MemoryCurve[];
  open: OpenSpans;
  completeness: Completeness;
  mpi: MpiRun[];
  losses: ReportedLoss[];
  timeline: Timeline;
  cost: DiskCost;
}

/** Bytes of all traces on disk, whatever part of them the report is about. */
export interface DiskCost {
  bytes: number;
  /** Bytes; null: there is no request, or the report is about a part of the recording. */
  perRequest: number | null;
  /** Bytes a day, as in the time that was recorded; null: that is less than ten seconds. */
  perDay: number | null;
}
