/** Answers of the routes of `tracewright view`, as the server writes and the page reads them. */

import type { Counter, Source, Track } from '../index/look-index.js';
import type { NamedCount } from '../report/shape/thread-shape.js';
import type { PoolHolder } from '../report/shape/trace-shape.js';

/** The header with the token of the session. */
export const TOKEN_HEADER = 'x-tracewright-token';

/** Every error: what failed, with which value, and what to do. */
export interface ErrorAnswer {
  error: string;
}

/** A source of the index. JSON has no bigints: those are texts. */
export interface SourceAnswer extends Omit<Source, 'epoch' | 'clockOffset'> {
  /** Its rank among the sources: as the paths were given, then by their beginning. */
  order: number;
  /** Of its rows, in ns since time 0; both 0 if it has none. */
  begin: number;
  end: number;
  clockOffset: string;
}

/** A process: with all that it has recorded, in traces of any format. */
export interface ProcessAnswer {
  number: number;
  /** Numbers of sources. One with threads of several processes is in each of them. */
  sources: number[];
  service?: string | undefined;
  host?: string | undefined;
  pid?: number | undefined;
}

export interface TrackAnswer extends Track {
  process: number;
  /** Orders the threads of a process: tracks of one thread have the same number in every format. */
  order: number;
}

export interface CounterAnswer extends Pick<Counter, 'source' | 'thread' | 'name' | 'unit'> {
  /** Number among the counters of the index. */
  number: number;
  process: number;
  /** The largest value in the recording. */
  max: number;
  /** Whether it is a mean, as all values of the curve are. */
  isMean: boolean;
  /** When its process has ended, in ns since time 0: the last value holds until then. Null: it runs. */
  end: number | null;
}

export interface FrequentName {
  name: string;
  /** Hosts with ports that calls of this name have asked; some of them, if there are many. */
  targets: string[];
}

/** `GET /data/recording`: what there is to look at. */
export interface RecordingAnswer {
  /** Differs after a restart: what the page keeps of another one is void. Names keep their numbers within one. */
  generation: string;
  /** Grows with each refresh that brought something, which may have given rows other numbers. */
  revision: number;
  live: boolean;
  rows: number;
  /** Ns since 1970 of time 0. */
  epoch: string;
  /** Ns. */
  length: number;
  sources: SourceAnswer[];
  processes: ProcessAnswer[];
  tracks: TrackAnswer[];
  counters: CounterAnswer[];
  messages: number;
  /** Not all requests were kept: others are only counted. */
  isSelected: boolean;
  /** Names that have colours of their own, the most frequent first. */
  frequentNames: readonly FrequentName[];
  /** Kinds of interruptions that were recorded. */
  interruptions: readonly ('stall' | 'collection')[];
  /** Traces that can no longer be read, and processes that may be one, in words. */
  problems: string[];
}

/** Meta of `GET /data/boxes` and `GET /data/samples`. */
export interface BoxesMeta {
  revision: number;
  /** Texts of the names from number `firstName` on: those that the page does not know yet. */
  firstName: number;
  names: string[];
  /** Of samples: by track that was asked for, how many calls are below each other. */
  depths?: number[];
}

/** As the lane of a box: a stall of a track in one of the lanes that are folded. */
export const STALLS_LANE = 65_535;

/**
 * Columns of `GET /data/boxes`, ordered by track, lane and start. `row` is the span, or the longest of
 * the `count` that a merged box contains. Stalls of folded lanes follow, by track and start.
 */
export interface BoxColumns {
  track: Uint32Array;
  lane: Uint16Array;
  /** Ns since time 0. */
  start: Float64Array;
  end: Float64Array;
  row: Int32Array;
  count: Uint32Array;
  name: Uint32Array;
  flags: Uint8Array;
  /** How many of the `count` rows failed. */
  failed: Uint32Array;
  /** Of merged boxes, in their order: the box, and a time in each pixel of which a row begins that failed. */
  failedBox: Uint32Array;
  failedFrom: Float64Array;
  failedTo: Float64Array;
}

/**
 * Columns of `GET /data/samples`: functions that ran, as boxes in which no row fails. The `lane` is how many calls are
 * above a function, its name is as `codeName` writes it, and `row` is the span that all samples were of, or -1.
 */
export interface SampleColumns extends BoxColumns {
  /** Of the function, or the one that ran longest. */
  samples: Uint32Array;
  /** The name of the span and its start, if there is one. */
  within: Uint32Array;
  withinStart: Float64Array;
}

/** Columns of `GET /data/lit`, ordered by track, lane and time: pixels in which matches begin, and how many do. */
export interface LitColumns {
  track: Uint32Array;
  lane: Uint16Array;
  /** The middle of the pixel, in ns since time 0. */
  time: Float64Array;
  count: Uint32Array;
}

/** Columns of `GET /data/overview`: one element a pixel of the strip. */
export interface OverviewColumns {
  /** Rows that are there. */
  rows: Float64Array;
}

/** `GET /data/counters`: columns of each curve in a window. */
export interface CurveColumns {
  counter: Uint32Array;
  time: Float64Array;
  /** The greatest value in the pixel, or what holds after it. */
  high: Float64Array;
}

/** Columns of `GET /data/messages`. */
export interface MessageColumns {
  fromTrack: Uint32Array;
  toTrack: Uint32Array;
  fromLane: Uint16Array;
  toLane: Uint16Array;
  sent: Float64Array;
  received: Float64Array;
}

/** A row that an answer refers to. */
interface NamedRow {
  row: number;
  /** Ns since time 0. */
  start: number;
  duration: number;
  name: string;
}

/** `GET /data/row`: all that is known of one row. */
export interface RowAnswer {
  row: number;
  /** Finds the row again when a refresh has given it another number. */
  key: string;
  track: number;
  lane: number;
  name: string;
  /** Ns since time 0. */
  start: number;
  duration: number;
  unfinished: boolean;
  status: 'unset' | 'ok' | 'error';
  /** A row, or why there is none. */
  parent: number | 'root' | 'missing';
  /** Of a request whose name has no path. */
  path: string | null;
  /** Host and port that a call named by its method has asked. */
  target: string | null;
  /** Its trace has no other span, or as that of stalls and collections none that belongs to it. */
  isAlone: boolean;
  /**
   * Of a stall or a collection: spans of its thread that were open then, the innermost first. `count` has those
   * that are not among the `rows`, too.
   */
  openMeanwhile: { count: number; rows: NamedRow[] };
  /** Of a stall or a collection: what ran on its thread, and what it delayed, as the report says it; empty: nothing. */
  ran: string;
  delayed: NamedCount[];
  /** Of a wait for a pool: who had the connection. */
  heldBy: PoolHolder | null;
  traceId?: string | undefined;
  spanId?: string | undefined;
  /** For a person: bigints are texts. */
  details: Record<string, unknown>;
}

/** Rows of one `GET /data/row-names`. Each is read from the trace, while windows wait. */
export const MOST_ROW_NAMES = 50;

/** `GET /data/row-names`, in the order of the rows. */
export interface RowNamesAnswer {
  names: {
    /** Ns since time 0. It says whether the row is still the one that was meant. */
    start: number;
    name: string;
  }[];
}
