import { INSTANT_BIT, NO_RECORD, NO_TRACE } from '../rows/row-flags.js';
import type { AttributeReader, ReadBatch, RowRecord, RowTrack } from '../rows/row-batch.js';
import { spanOfRow } from '../spans/read/row-span.js';
import type { SpanRecord } from '../spans/span-record.js';
import type { Extent } from '../look/condition/time-point.js';
import { isAll, rowTest, spanTest } from './selection.js';
import type { Selection } from './selection.js';

const NO_ATTRIBUTES: RowRecord = { attributes: {} };

/** Steps through the rows of a batch. Times are ns since the batch's zero. */
export class RowCursor {
  row = -1;
  readonly #batch: ReadBatch;
  readonly #zero: bigint;
  readonly #texts: readonly string[];
  #records: AttributeReader | undefined;
  #record: RowRecord | undefined;
  #traceIds: Uint32Array | undefined;

  /** @param zero the zero of the times; since 1970 if the trace says that. */
  constructor(batch: ReadBatch, zero: bigint) {
    this.#batch = batch;
    this.#zero = zero;
    this.#texts = batch.names.texts();
  }

  next(): boolean {
    this.#record = undefined;
    return ++this.row < this.#batch.rows.count;
  }

  get start(): number {
    return this.#batch.rows.start[this.row]!;
  }

  get duration(): number {
    return this.#batch.rows.duration[this.row]!;
  }

  get end(): number {
    return this.start + this.duration;
  }

  get exactStart(): bigint {
    return this.#batch.rows.startOf(this.row);
  }

  get exactEnd(): bigint {
    return this.exactStart + this.#batch.rows.durationOf(this.row);
  }

  get name(): string {
    return this.#texts[this.#batch.rows.name[this.row]!]!;
  }

  get track(): RowTrack {
    return this.#batch.tracks[this.#batch.rows.track[this.row]!]!;
  }

  get isSpan(): boolean {
    return this.#batch.rows.trace[this.row] !== NO_TRACE;
  }

  get isInstant(): boolean {
    return (this.#batch.rows.flags[this.row]! & INSTANT_BIT) !== 0;
  }

  /** Bytes of the record that was read last. */
  get size(): number {
    return this.#records?.size ?? 0;
  }

  /**
   * Reads the record of the row.
   *
   * @throws TracewrightError if it cannot be read.
   */
  record(): RowRecord {
    if (this.#record !== undefined) return this.#record;
    const { rows, from, openAttributes } = this.#batch;
    const offset = rows.recordOffset[this.row]!;
    let record = NO_ATTRIBUTES;
    if (offset !== NO_RECORD) record = (this.#records ??= openAttributes()).at(from + offset);
    return (this.#record = this.isSpan ? this.#spanOf(record) : record);
  }

  /** The record of a row that is a span. */
  span(): SpanRecord {
    return this.record() as SpanRecord;
  }

  close(): void {
    this.#records?.close();
  }

  #spanOf(record: RowRecord): SpanRecord {
    const { rows, traces } = this.#batch;
    const { row, name, track } = this;
    const span = spanOfRow(record, () => ({
      traceId: (this.#traceIds ??= traces.take()).subarray(4 * rows.trace[row]!).subarray(0, 4),
      spanId: rows.spanId.subarray(2 * row, 2 * row + 2),
      parentId: rows.parentId.subarray(2 * row, 2 * row + 2),
      name,
      flags: rows.flags[row]!,
      start: this.#zero + this.exactStart,
      end: this.#zero + this.exactEnd,
      thread: track.thread,
    }));
    this.#move(span);
    return span;
  }

  /** The row has the time by the clock as it was when the span was written, which a record does not say. */
  #move(span: SpanRecord): void {
    const { start } = this;
    if (Number.isSafeInteger(start) && Number(span.start - this.#zero) === start) return;
    const late = this.#zero + this.exactStart - span.start;
    span.start += late;
    span.end += late;
    for (const event of span.events) event.time += late;
  }
}

/** Whether a row is exported; undefined: all are. */
export type RowFilter = ((row: RowCursor) => boolean) | undefined;

/** @param origin the first time of the rows: those that are no spans are selected by the time since then. */
export function rowFilter(selection: Selection, extent: Extent, origin: number): RowFilter {
  if (isAll(selection)) return undefined;
  const ofSpan = spanTest(selection, extent)!;
  const ofRow = rowTest(selection, extent);
  return (row) =>
    row.isSpan
      ? ofSpan(row.span())
      : ofRow(row.start - origin, row.end - origin, row.name, () => row.record().attributes);
}
