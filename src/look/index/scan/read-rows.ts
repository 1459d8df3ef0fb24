import type { Track } from '../look-index.js';
import type { ByteTable } from './byte-table.js';
import type { TraceTable } from './id-table.js';
import type { RowColumns } from './row-columns.js';

/** What is known of a stream's counter: gaps in it are records that were lost. */
export interface StreamCount {
  stream: number;
  first: number;
  last: number;
  missing: number;
}

/** A track as a part numbers it. */
export type PartTrack = Pick<Track, 'kind' | 'name' | 'thread'>;

/** What has been read of a part. */
export interface ReadRows {
  rows: RowColumns;
  names: ByteTable;
  traces: TraceTable;
  tracks: PartTrack[];
  counts: ReadonlyMap<number, StreamCount>;
  notes: number[];
  faulty: number;
  /** Where the first of them lies in the file. */
  readonly firstFaulty: number;
  /** What is shown of rows that are no records of their own, by the number in `rows.place`. */
  details?: ByteTable;
}
