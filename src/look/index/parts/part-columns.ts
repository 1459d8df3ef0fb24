import type { AttributeBlocks } from './attribute-blocks.js';
import type { PartTrack, StreamCount } from '../../../rows/row-batch.js';

/** Words of a row in `PartColumns.missing`: the row, high and low of the parent's id. */
export const MISSING_WORDS = 3;

/** Columns of a part as they are built and stored: rows in order of start, numbers within the part. */
export interface PartColumns {
  start: Float64Array;
  duration: Float64Array;
  name: Uint32Array;
  route: Uint32Array;
  track: Uint32Array;
  trace: Uint32Array;
  /** A row of the part, NO_PARENT or MISSING_PARENT. */
  parent: Int32Array;
  flags: Uint8Array;
  spanId: Uint32Array;
  /** Bytes from `PartFacts.from` to the row's record, or NO_RECORD. */
  recordOffset: Uint32Array;
  /** Texts of names and routes. */
  nameBytes: Uint8Array;
  nameEnds: Uint32Array;
  /** Of each text: the number of the system's, or NO_SYSTEM. */
  nameSystems: Uint32Array;
  /** Four words of each trace. */
  traceIds: Uint32Array;
  /** Rows whose parent is not in the part, ascending: see MISSING_WORDS. */
  missing: Uint32Array;
  /** Filters of the attributes: see attribute-blocks.ts. */
  filterBits: AttributeBlocks['bits'];
  filterEnds: AttributeBlocks['ends'];
  /** The last end of each block of rows, in ns since the source's epoch. */
  blockEnds: Float64Array;
}

export type ColumnName = keyof PartColumns;

/** Facts of a part next to its columns. */
export interface PartFacts {
  rows: number;
  /** Where its records lie in the file: the first byte, and the first byte after it. */
  from: number;
  to: number;
  tracks: PartTrack[];
  counts: StreamCount[];
  /** Where definitions and clock records lie in the file. */
  notes: number[];
  /** Records that are not as the format says, and where the first of them lies in the file. */
  faulty: number;
  firstFaulty: number;
  /** Spans that the process's end has ended. */
  unfinished: number;
  /** Whether rows of the part were their own ancestors: their parents are missing, and not in `missing`. */
  hasCycles: boolean;
  firstStart: number;
  lastEnd: number;
  /** The end of the row whose record was written first. */
  firstEnd: number;
}

export interface BuiltPart {
  /** The rows as they were read, in the order of the columns. Valid as long as these. */
  order: Uint32Array;
  facts: PartFacts;
  columns: PartColumns;
}
