/** Answers to the views, as the server writes and the page reads them. */

import type { Comparison } from '../compare/comparison-shape.js';
import type { ErrorType, FlameNode, Report } from '../report/shape/report-shape.js';
import type { SlowTrace, TreeRow } from '../report/shape/trace-shape.js';

/** A line of `GET /data/find`, which are JSON. The last one is `done`. */
export interface FindLine {
  /** The matches so far. */
  count: number;
  /** The next ones, at most `MOST_FOUND` in all, with their starts in ns. */
  rows: number[];
  starts: number[];
  /** The stretches of the recording, of `FOUND_STRETCHES`, in which further matches begin. */
  stretches: number[];
  /** How much of the recording was looked at, from 0 to 1. */
  searched: number;
  done: boolean;
}

/** `GET /data/search-terms`. */
export interface SearchTermsAnswer {
  /** As `status=error`: values with spaces are quoted. */
  terms: string[];
  /** Names of attributes, as one groups by them. */
  attributes: string[];
}

/** The whole recording is cut into so many stretches, to mark where there are matches. */
export const FOUND_STRETCHES = 4096;

/** Matches that the page gets one by one; of more it gets the count. */
export const MOST_FOUND = 20_000;

/** The row of a span that a report names. */
export interface ReportedRow {
  row: number;
  /** Ns since time 0. */
  start: number;
  duration: number;
}

/** `GET /data/report`: that of `tracewright report --json`, and which rows it names. */
export interface ReportAnswer {
  report: Report;
  /** By number in `report.slowest`. */
  slowest: ReportedRow[];
  /** By number in `report.open.spans`; of those that the page lists. */
  open: ReportedRow[];
  /** By number in `report.interruptions.threads`: the longest one. */
  threads: ReportedRow[];
  /** By number in `report.interruptions.longest`. */
  stalls: ReportedRow[];
  /** Of the first group; null: it was not asked for, or there is none. */
  closer: { flame: FlameNode[]; code: FlameNode[]; examples: ExampleRow[] } | null;
}

/** What the Overview asks `GET /data/report` at first: the server has the answer ready. */
export const OVERVIEW_QUESTION = { slowest: '5', by: '' };

/** A span as an example of its group. */
export interface ExampleRow extends ReportedRow {
  what: 'typical' | 'slowest' | 'notBlocked' | 'failed';
  /** Null: it belongs to no trace. */
  traceId: string | null;
}

/** Open spans that the page lists. */
export const MOST_OPEN = 60;

/** Columns of `GET /data/table`. */
export interface TableColumns {
  row: Int32Array;
  /** Ns since time 0. */
  start: Float64Array;
  duration: Float64Array;
  name: Uint32Array;
  source: Uint32Array;
  flags: Uint8Array;
}

export interface TableMeta {
  /** By row: the name of the request that it is of, and the id of its trace. */
  requests: (string | null)[];
  traces: (string | null)[];
  /** Of all rows, shown or not. */
  total: number;
  firstName: number;
  names: string[];
}

/** Columns of `GET /data/latency`. */
export interface LatencyColumns {
  /** Spans by start and duration: by line, then column. */
  counts: Uint32Array;
  /** By column: spans that failed. */
  errors: Uint32Array;
  /** Of each stretch of columns: percentiles of the durations in ns, 0 without spans. */
  p50: Float64Array;
  p95: Float64Array;
  p99: Float64Array;
}

export interface LatencyMeta {
  from: number;
  to: number;
  columns: number;
  /** Columns of a stretch; the last one may have fewer. */
  stretch: number;
  /** Line 0 is from `least` ns to `least * step`, each further one `step` times longer. */
  lines: number;
  least: number;
  step: number;
}

export type CompareAnswer = Pick<Comparison, 'groups' | 'errors' | 'memory'>;

/** When a thread was stalled, or collected garbage: ns since time 0. */
export type WaterfallPause = readonly [kind: 'stall' | 'collection', start: number, end: number];

/** A row of the waterfall, in the order of the tree. `start` is since time 0. */
export interface WaterfallRow extends TreeRow {
  /** Of the longest span that it is for, or of the stall; null: it is none of the recording. */
  row: number | null;
  source: number | null;
  /** Of its own thread, while it was open. */
  pauses: WaterfallPause[];
}

/** A child seems to begin before its parent: their clocks are at least so far apart. */
export interface ClockError {
  /** Ns, the most of the trace. */
  early: number;
  /** Where both ran: `stock on host-b`. */
  parent: string;
  child: string;
}

/**
 * `GET /data/trace`: that of `tracewright trace --json`, and why its spans failed. A row that is for several siblings has
 * a row of each below it.
 */
export interface TraceAnswer extends Omit<SlowTrace, 'rows'> {
  rows: WaterfallRow[];
  /** The row that waited, and ns since time 0 at which the first span of the trace began. */
  top: number;
  begin: number;
  errors: ErrorType[];
  /** Null: no child seems to begin before its parent in another process. */
  clocks: ClockError | null;
}
