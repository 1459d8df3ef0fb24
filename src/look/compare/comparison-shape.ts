import type { ErrorType } from '../report/shape/report-shape.js';
import type { MemoryCurve } from '../report/shape/thread-shape.js';
import type { SpanKind } from '../../spans/layout.js';

/** The spans of one name and service on one side. Durations are in nanoseconds. */
export interface ComparedSide {
  count: number;
  errors: number;
  p50: number;
  p95: number;
  p99: number;
}

/** How many times longer something takes after, and the 95 % confidence interval. */
export interface Ratio {
  value: number;
  low: number;
  high: number;
}

/** How often requests of a route make a call. */
export interface ComparedCalls {
  /** `GET /orders/:id`; null: all requests of the service, none of whose routes was recorded often enough. */
  route: string | null;
  /** Calls a request. */
  before: number;
  after: number;
  /** How many calls. */
  calls: { before: number; after: number };
  /** The 95 % confidence interval of how many times more often after; null: a side has no call. */
  low: number | null;
  high: number | null;
  /** Null: it may be chance, or is less than a quarter. */
  change: 'appeared' | 'vanished' | 'more' | 'fewer' | null;
}

export interface ComparedGroup {
  name: string;
  /** Of the spans of a name, those of one statement of a database or of stalls of one function; null: all of them. */
  statement: string | null;
  /** Hosts and ports that calls have asked, some of them, if they are named by their method. */
  targets: string[];
  service: string | null;
  kind: SpanKind;
  /** `http`, `redis`; null: the spans name none. */
  system: string | null;
  before: ComparedSide;
  after: ComparedSide;
  /** Of the geometric mean. Null: a side has too few spans. */
  ratio: Ratio | null;
  /** Whether the change of the geometric mean is named: more than chance, at least 5 %, and at least 50 µs. */
  isMean: boolean;
  /** Of p95, else p99, if that change is named: more than chance, and at least 20 %. */
  tail: (Ratio & { percent: 95 | 99 }) | null;
  /**
   * What is named: of the mean, else of the tail. Of a group of which a side has too few spans: that it is on one
   * side, or much more often there. Null: that may be chance.
   */
  change: 'slower' | 'faster' | 'same' | 'new' | 'gone' | 'more' | 'fewer' | null;
  /** Of calls of databases, services and queues, by route; empty: it is none, or too few were recorded. */
  calls: ComparedCalls[];
}

/** Errors of one type, message and frame. What they are is said of the last one after, or before if there is none. */
export interface ComparedError extends Omit<ErrorType, 'count' | 'isNew'> {
  /** How many spans failed so on each side. */
  before: number;
  after: number;
  /** `new`: not before; `gone`: not after; null: on both sides. */
  change: 'new' | 'gone' | null;
}

/** Errors of both sides. */
export interface ComparedErrors {
  /** How many spans failed, and of how many of them, taken evenly, the records were read. */
  before: { count: number; read: number };
  after: { count: number; read: number };
  /** New types first, then those that are gone. */
  types: ComparedError[];
}

/** Memory of a thread or a process of a service: the highest of each side. Bytes. */
export interface ComparedMemory extends Pick<MemoryCurve, 'kind' | 'service'> {
  before: MemoryCurve | null;
  after: MemoryCurve | null;
}

/** The recordings of one side. */
export interface ComparedRecordings {
  paths: string[];
  services: string[];
  /** ISO times with nanoseconds. */
  from: string;
  to: string;
  /** Ns. */
  length: number;
  spans: number;
}

/** Grows when a field changes its meaning, or goes. */
export const COMPARISON_VERSION = 4;

/** The object that `report --against --json` prints. */
export interface Comparison {
  /** Of this shape. */
  version: typeof COMPARISON_VERSION;
  before: ComparedRecordings;
  after: ComparedRecordings;
  /** Slower ones first, then the rest, then those that became faster. */
  groups: ComparedGroup[];
  errors: ComparedErrors;
  memory: ComparedMemory[];
}
