import type { OnFault } from '../core/fault.js';
import type { Progress } from '../core/finding.js';
import type { ByteTable } from './byte-table.js';
import type { TraceTable } from './id-table.js';
import type { RowColumns } from './row-columns.js';
import type { TrackKind } from './row-flags.js';

/** What is known of a stream's counter: gaps in it are records that were lost. */
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
  /** Of a line below a thread: the thread's `tid`. */
  readonly below?: number;
}

/** What the index keeps of a track. */
export type PartTrack = Pick<RowTrack, 'kind' | 'name' | 'thread'>;

/** A curve. A value holds until the next time. */
export interface RowCounter {
  readonly process?: RowProcess;
  readonly thread: number;
  readonly name: string;
  /** Empty: it counts things. */
  readonly unit: string;
  /** In ns, as `RowColumns.start`. */
  times: number[];
  values: number[];
}

/** Reads what only its record says of a row. It keeps a file open until it is closed. */
export interface AttributeReader {
  /**
   * The attributes that the record at an offset of the file has.
   *
   * @param offset in bytes.
   * @throws TracewrightError if the record cannot be read any more.
   */
  at(offset: number): Record<string, unknown>;
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

/** Rows of a stretch of one file. */
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

/** Options of reading rows. */
export interface RowOptions {
  onProgress?: Progress | undefined;
  /** Takes what cannot be read of the trace, while the rest is read. Default: throw the first fault. */
  onFault?: OnFault | undefined;
  /** Zero of the rows' times, in ns of the trace's clock. Times near it are exact as doubles. */
  zero: bigint;
  /** Rows of a batch at most. */
  batchRows: number;
}
