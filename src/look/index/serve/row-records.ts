import { TracewrightError } from '../../../core/errors.js';
import type { AttributeReader, RowRecord } from '../../../rows/row-batch.js';
import { NO_RECORD, NO_TRACE } from '../../../rows/row-flags.js';
import { jsonDetails, spanDetails } from '../../../spans/read/drawn-spans.js';
import { spanOfRow } from '../../../spans/read/row-span.js';
import type { SpanRecord } from '../../../spans/span-record.js';
import { IndexRow, rowAt } from '../index-row.js';
import type { LookIndex } from '../look-index.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { MISSING_WORDS } from '../parts/part-columns.js';
import { NO, UNCERTAIN, type Verdict } from './attribute-match.js';
import type { PartRecords } from './find-rows.js';

/** The attributes of a part's rows, read from their records. */
export class RowRecords implements PartRecords {
  readonly #part: IndexedPart;
  #reader: AttributeReader | undefined;

  constructor(part: IndexedPart) {
    this.#part = part;
  }

  meets(row: number): Verdict {
    return this.#part.recordOffset[row] === NO_RECORD ? NO : UNCERTAIN;
  }

  /** Says nothing of a row without a record, and of one whose record cannot be read any more. */
  record(row: number): RowRecord {
    const { recordOffset, stored } = this.#part;
    if (recordOffset[row] === NO_RECORD) return { attributes: {} };
    try {
      this.#reader ??= stored.openAttributes!();
      return this.#reader.at(stored.facts.from + recordOffset[row]!);
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      return { attributes: {} };
    }
  }

  attributes(row: number): Readonly<Record<string, unknown>> {
    return this.record(row).attributes;
  }

  close(): void {
    this.#reader?.close();
  }
}

function recordOf(part: IndexedPart, own: number): RowRecord {
  const records = new RowRecords(part);
  try {
    return records.record(own);
  } finally {
    records.close();
  }
}

/** All of a row that is a span, as its columns and its record say it. */
export function spanOf(index: LookIndex, part: IndexedPart, own: number): SpanRecord {
  return spanOfRow(recordOf(part, own), () => {
    const row = new IndexRow(part, own);
    const start = part.source.epoch + BigInt(part.start[own]!);
    const firstWord = 4 * part.trace[own]!;
    return {
      traceId: part.traceIds.subarray(firstWord, firstWord + 4),
      spanId: part.spanId.subarray(2 * own, 2 * own + 2),
      parentId: parentIdOf(index, part, row),
      name: row.name,
      flags: row.flags,
      start,
      end: start + BigInt(row.duration),
      thread: index.tracks[row.track]!.thread,
    };
  });
}

/** Zeros: the row is a root. */
function parentIdOf(
  index: LookIndex,
  { missing }: IndexedPart,
  { at, parent }: IndexRow,
): Uint32Array {
  if (parent >= 0) {
    const { part, at: own } = rowAt(index, parent);
    return part.spanId.subarray(2 * own, 2 * own + 2);
  }
  for (let word = 0; word < missing.length; word += MISSING_WORDS) {
    if (missing[word] === at) return missing.subarray(word + 1, word + MISSING_WORDS);
  }
  return new Uint32Array(2);
}

/** Reads everything about a row that the page shows. */
export function detailsOf(
  index: LookIndex,
  part: IndexedPart,
  own: number,
): Record<string, unknown> {
  return jsonDetails(
    part.trace[own] === NO_TRACE
      ? Object.entries(recordOf(part, own).attributes)
      : spanDetails(spanOf(index, part, own)),
  );
}
