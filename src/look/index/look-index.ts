import type { TraceContent, TrackKind } from '../../rows/row-flags.js';
import type { SpanKind } from '../../spans/layout.js';
import type { ProfilePart } from '../../spans/read/profile-part.js';
import type { SpanRecord } from '../../spans/span-record.js';

export {
  INSTANT_BIT,
  KIND_MASK,
  NO_TEXT,
  NO_TRACE,
  REMOTE_PARENT_BIT,
  STATUS_MASK,
  STATUS_SHIFT,
  UNFINISHED_BIT,
  failedOf,
} from '../../rows/row-flags.js';

/** No row: the parent of a root. */
export const NO_PARENT = -1;
/** The parent is not in these recordings: rotated away, dropped, not sampled, or of another process. */
export const MISSING_PARENT = -2;

/** Something that was lost, with the reason in words: `12 records of thread 3 missing: the ring was full`. */
export interface Loss {
  /** How many records; undefined if nobody knows. */
  count: number | undefined;
  reason: string;
  /** It was recorded, and cannot be read: the reason names file and byte. */
  isUnreadable?: boolean;
}

/** A part of a source, or a whole trace, that cannot be read. */
export interface UnreadPart extends Loss {
  path: string;
}

/**
 * How the process of a trace has ended. `growing`: it lives. `died`: it was killed, and nobody has recovered
 * the trace. `unfinished`: with open spans, by an exit or a signal, or it was killed and then recovered.
 */
export type SourceState = 'ended' | 'growing' | 'died' | 'unfinished';

/** Earlier pieces of a trace that rotates, which are not there: its budget has deleted them. */
interface DeletedPieces {
  pieces: number;
  /** Of the threads that have recorded since, at least. */
  records: number;
  /** When the first record was written that is left, in ns since the source's epoch. */
  until: number;
}

/** One trace that was read: a file, a directory of ovni, a rank of DUMPI, or a living process. */
export interface Source {
  readonly number: number;
  readonly path: string;
  /** The name of its format: `Heph`. */
  readonly format: string;
  readonly content: TraceContent;
  /** Zero of its times, in ns since 1970. */
  readonly epoch: bigint;
  /** Ns that are added to its times to compare them with other hosts: see `estimateClocks`. */
  readonly clockOffset: bigint;
  /** The offset is right within so many ns; undefined: no call shows how far the clocks are apart. */
  readonly clockError: number | undefined;
  /** Whether the trace says its epoch; without one it is shown from the beginning of the others on. */
  readonly isAligned: boolean;
  readonly service: string | undefined;
  readonly host: string | undefined;
  readonly pid: number | undefined;
  /** Its resource says that nothing is below requests. */
  readonly withoutContext: boolean;
  readonly state: SourceState;
  /** Of a living process: what it had recorded until then is there, in ns since `LookIndex.epoch`. */
  readonly until: number | undefined;
  readonly deleted: DeletedPieces | undefined;
  /** From when until when threads ran, at least, in ns since the source's epoch; undefined: it does not say. */
  readonly lived: { readonly begin: number; readonly end: number } | undefined;
  /** Its process ran out of heap: the limit in MiB. */
  readonly heapLimit: number | undefined;
  /** The group of its host that limits its memory, and to how many bytes; undefined: it has none. */
  readonly memoryGroup: string | undefined;
  readonly memoryLimit: number | undefined;
  /** Of the traces that begin in its process, the share that it records, from 0 to 1. */
  readonly sampled: number;
  /** Threads of which CPU samples were recorded. */
  readonly profiled: readonly number[];
  readonly losses: readonly Loss[];
}

/** A line of the time line that has rows, in lanes where they overlap. */
export interface Track {
  readonly number: number;
  readonly source: number;
  readonly kind: TrackKind;
  /** `main`, `worker 3`, `rank 0`. */
  readonly name: string;
  /** The thread's number within its source; of a rank, the rank. */
  readonly thread: number;
  /** Rows of one lane never overlap. */
  readonly lanes: number;
}

/**
 * Texts by number. Decoded when asked for: a recording may have millions. A name of operations of several systems
 * has several numbers.
 */
export interface TextTable {
  readonly count: number;
  text(number: number): string;
  /** The system of the operations of a name: `redis`, `http`; undefined: none is known. */
  system(number: number): string | undefined;
}

/** Columns of a part that are read from the cache. */
export type StoredColumn =
  | 'start'
  | 'duration'
  | 'name'
  | 'route'
  | 'track'
  | 'trace'
  | 'traceIds'
  | 'missing'
  | 'flags'
  | 'parent'
  | 'recordOffset';

/**
 * Rows of one source that were indexed together, as columns of one length, ordered by start. A column is
 * read from the cache when it is first used.
 */
export interface IndexPart {
  readonly source: Source;
  /** Number of its first row among all rows of the index. */
  readonly firstRow: number;
  readonly count: number;
  /** Ns that are added to `start` for times since `LookIndex.epoch`. */
  readonly offset: number;
  /** The earliest start and the last end of its rows, in ns since the source's epoch. */
  readonly firstStart: number;
  readonly lastEnd: number;
  /** Ns since the source's epoch. */
  readonly start: Float64Array;
  /** Ns; never negative. */
  readonly duration: Float64Array;
  /** Numbers in `names`. */
  readonly name: Uint32Array;
  readonly names: TextTable;
  /** The span's `http.route`: a number in `names`, or NO_TEXT. */
  readonly route: Uint32Array;
  /** Numbers in `LookIndex.tracks`. */
  readonly track: Uint32Array;
  readonly lane: Uint16Array;
  /** Number among the part's traces, or NO_TRACE. */
  readonly trace: Uint32Array;
  readonly traceCount: number;
  /** Four words of each trace's id, the high ones first. */
  readonly traceIds: Uint32Array;
  /** 32 hexadecimal digits. */
  traceId(trace: number): string;
  /** A row among all rows of the index, NO_PARENT or MISSING_PARENT. */
  readonly parent: Int32Array;
  /** The rows whose parent is MISSING_PARENT, as numbers in the part: known without the column `parent`. */
  readonly missingParents: Uint32Array;
  /** Kind, status and the bits above. */
  readonly flags: Uint8Array;
  /** How many rows have UNFINISHED_BIT. */
  readonly unfinished: number;
  /** The span's id, 64 bits as two u32: high, low. */
  readonly spanId: Uint32Array;
  /** Reads columns in the background, so that they need not be read when they are used. */
  load(columns: readonly StoredColumn[]): Promise<void>;
}

/** A condition on rows. What is absent does not matter; all that is there must hold. */
export interface Condition {
  /** Ns since `LookIndex.epoch`: rows that overlap [from, to). */
  from?: number;
  to?: number;
  /** The whole name; `*` is any text. */
  name?: string;
  service?: string;
  /** None of these services; of a source that says none, none of these paths. */
  hidden?: readonly string[];
  status?: 'unset' | 'ok' | 'error';
  kind?: SpanKind;
  /** The result of `systemOf` for its attributes. */
  system?: string;
  unfinished?: boolean;
  missingParent?: boolean;
  traceId?: string;
  /** Why they failed, as `causeOf` of the report says it; `*` is any text. Who searches looks up `rows` first. */
  cause?: string;
  /** These rows, which meet all the rest. */
  rows?: ReadonlySet<number>;
  /** Ns. */
  minDuration?: number;
  maxDuration?: number;
  /** All of them; the value as text. */
  attributes?: readonly { name: string; value: string }[];
}

/** A message between two tracks: DUMPI's send and receive. */
export interface Message {
  fromRow: number;
  toRow: number;
  /** Ns since `LookIndex.epoch`. */
  sent: number;
  received: number;
  /** NaN: nobody knows. */
  bytes: number;
}

/** The thread of a curve that is of all threads of its source. */
export const WHOLE_PROCESS = -1;

/** A curve: requests in flight, delay of an event loop. A value holds until the next time. */
export interface Counter {
  readonly source: number;
  readonly thread: number;
  readonly name: string;
  readonly unit: string;
  /** Ns since `LookIndex.epoch`, ascending. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Whether values are means of stretches of time: of a curve that would have too many points. */
  readonly areMeans?: boolean;
}

/** Samples of what a thread ran. */
export interface Profile {
  readonly source: number;
  readonly part: ProfilePart;
  /** Ns that are added to its times for times since `LookIndex.epoch`. */
  readonly offset: number;
}

/** One picture of a track in a window: what its pixels can show and no more. */
export interface Window {
  track: number;
  lane: number;
  /** Rows that are wider than a pixel, in order of start. */
  rows: Int32Array;
  /** Narrower rows, merged: pixels from `at` up to `end`, how many rows, the longest of them. */
  merged: {
    at: Uint32Array;
    end: Uint32Array;
    count: Uint32Array;
    row: Int32Array;
    /** Of `row`, in ns, rounded. */
    duration: Float32Array;
    /** How many of the rows failed. */
    failed: Uint32Array;
  };
  /** Pixels from `at` up to `end` in each of which a merged row begins that failed. */
  failed: { at: Uint32Array; end: Uint32Array };
}

/** Lanes of a track from number `lanes` on are merged in that one, unless the track is `open`. */
export interface LaneFold {
  lanes: number;
  open: ReadonlySet<number>;
}

/** The rows of a set of traces. Made by `openLookIndex`; everything that looks reads through this. */
export interface FoundRows {
  /** None: nothing was found since the last ones. */
  rows: Int32Array;
  /** All rows below this one have been looked at. */
  upTo: number;
}

/** Answers that outlive the process that made them. */
export interface Answers {
  /** @returns undefined: none was kept, or that of other files or of other code. */
  read(question: string): unknown;
  /**
   * Keeps an answer, unless it was made quickly.
   *
   * @param answer as JSON.
   * @param took ms.
   */
  keep(question: string, answer: unknown, took: number): void;
}

export interface LookIndex {
  readonly sources: readonly Source[];
  readonly tracks: readonly Track[];
  readonly parts: readonly IndexPart[];
  readonly rows: number;
  /** Zero of the times that the index gives, in ns since 1970: the earliest start. */
  readonly epoch: bigint;
  /** Ns from `epoch` to the last end. */
  readonly length: number;
  readonly counters: readonly Counter[];
  readonly messages: readonly Message[];
  /** Parts that cannot be read; everything else is there. */
  readonly unread: readonly UnreadPart[];
  /** Directories with rings of dead processes, beyond those of the traces. */
  readonly ringDirs: readonly string[];
  /** Of recordings that do not change any more; undefined: these do, or they are small, or nothing is kept of them. */
  readonly answers: Answers | undefined;
  /** Samples of CPU profiles, read from the traces. */
  profiles(): Iterable<Profile>;
  /** The part of a row, and the row's number there: `row - part.firstRow`. */
  partOf(row: number): IndexPart;
  /** All fields of a span, read from its trace. Undefined for a row that is no span. */
  span(row: number): SpanRecord | undefined;
  /** Attributes of a row of any format, for a person; of a span's own at most so many. */
  details(row: number, most?: number): Record<string, unknown>;
  rowsOfTrace(traceId: string): number[];
  /** Rows that meet a condition, ascending by part; in batches, so that the first come early. */
  find(condition: Condition): AsyncIterable<Int32Array>;
  /** The same, and how far it has come: also where nothing is found for long. */
  search(condition: Condition): AsyncIterable<FoundRows>;
  /**
   * Returns what the pixels of a window show, from the pyramid where it is dense. `width` in pixels. Of a track's
   * lanes 512 are shown; the last one has the rows of all further ones, merged. Narrow rows merge in each
   * pixel, and over neighbouring pixels up to multiples of `cell` pixels: 1 unless given. `fold` merges further
   * lanes.
   */
  windows(
    from: number,
    to: number,
    width: number,
    tracks: readonly number[],
    cell?: number,
    fold?: LaneFold,
  ): Window[];
  /** How many rows of some tracks lie in each of `count` stretches of the whole recording. */
  activity(count: number, tracks: readonly number[]): Float64Array;
  /** Brings in what has been recorded since; returns whether anything was. Living processes included. */
  refresh(): Promise<boolean>;
  close(): void;
}
