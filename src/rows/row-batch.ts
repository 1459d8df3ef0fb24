import type { OnFault } from '../core/fault.js';
import type { Progress } from '../core/finding.js';
import type { ByteTable } from './byte-table.js';
import type { TraceTable } from './id-table.js';
import type { RowColumns } from './row-columns.js';
import type { TrackKind } from './row-flags.js';

/** A stream's counter: gaps in it are records that were lost. */
export interface StreamCount {
  stream: number;
  first: number;
  last: number;
  missing: number;
}

/** A process as a trace has it. */
export interface RowProcess {
  readonly pid: number;
  readonly name: string;
}

/** A line of rows. The same object in every batch. */
export interface RowTrack {
  readonly kind: TrackKind;
  /** Within the trace: `main`, `MPI rank 0, thread 3`. */
  readonly name: string;
  /** The thread's number within the trace; of a rank, the rank. */
  readonly thread: number;
  readonly process: RowProcess;
  /** The thread's number within the process; of a line below a thread, a number that no thread has. */
  readonly tid: number;
  /** The name within the process; absent: viewers show the number. */
  readonly label?: string;
}

/** The fields of a track that the index keeps. */
export type PartTrack = Pick<RowTrack, 'kind' | 'name' | 'thread'>;

/** A curve. A value holds until the next time. */
export interface RowCounter {
  readonly process?: RowProcess;
  readonly thread: number;
  readonly name: string;
  /** Empty: it counts things. `ratio`: from 0 to 1. */
  readonly unit: string;
  /** The name within the process; absent: `name`. */
  readonly label?: string;
  /** In ns, as `RowColumns.start`. */
  times: number[];
  values: number[];
}

/** Fields of a row that are in its record alone. */
export interface RowRecord {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Number of what the thread was working on: rows of one track with another number have no part in each other. */
  readonly substream?: bigint;
}

/** Reads the records of rows. It keeps a file open until it is closed. */
export interface AttributeReader {
  /** Bytes of the record that was read last, where memory is to be bounded. */
  readonly size?: number;
  /**
   * Reads the record at an offset of the file: of a span all of it.
   *
   * @param offset in bytes.
   * @throws TracewrightError if the record cannot be read, or not any more.
   */
  at(offset: number): RowRecord;
  close(): void;
}

/** A message between two rows: each by its batch, counted from 0, and its number there. */
export interface RowFlow {
  fromBatch: number;
  fromRow: number;
  toBatch: number;
  toRow: number;
  /** In ns, as `RowColumns.start`. */
  sent: number;
  received: number;
  /** NaN: unknown. */
  bytes: number;
}

/** Rows of a stretch of one file, as the index takes them. */
export interface RowBatch {
  rows: RowColumns;
  names: ByteTable;
  traces: TraceTable;
  tracks: readonly PartTrack[];
  counts: ReadonlyMap<number, StreamCount>;
  /** Where records lie that are no rows and say something of others. */
  notes: number[];
  /** Records that are not as the format says. */
  faulty: number;
  /** Where the first of them lies in the file. */
  readonly firstFaulty: number;
}

/** Rows of a stretch of one file, as a reader yields them. */
export interface ReadBatch extends RowBatch {
  tracks: readonly RowTrack[];
  readonly counters: readonly RowCounter[];
  /** The offset in the file from which `rows.recordOffset` counts. */
  readonly from: number;
  /** Opens the file for the records of rows. */
  readonly openAttributes: () => AttributeReader;
}

/** A reading of a trace as rows. */
export interface RowReading {
  /**
   * The rows, of one file after the other. A batch is valid until the next one. What cannot be read goes to the
   * reading's `onFault`.
   */
  batches(): Iterable<ReadBatch>;
  /** Messages between rows; complete when all batches have been read. */
  readonly flows?: readonly RowFlow[];
}

/** Options of reading rows. */
export interface RowOptions {
  onProgress?: Progress | undefined;
  /** Takes what cannot be read of the trace, while the rest is read. Default: throw the first fault. */
  onFault?: OnFault | undefined;
  /** Zero of the rows' times, in ns of the trace's clock. Times near it are exact as doubles. */
  zero: bigint;
  /** Rows of a batch, about. */
  batchRows: number;
}
