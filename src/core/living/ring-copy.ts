import { TraceFormatError } from '../errors.js';
import type { RingPage } from '../recovery/ring-page.js';
import type { LivingRing } from './living-ring.js';

const WINDOW_BYTES = 1 << 20;
/** Copies that a writer may overtake, each at its first byte, before the ring is left to the file. */
const MOST_COPIES = 20;
/** Copies that are no whole records, though nobody has overtaken them. */
const MOST_FAULTS = 5;

/** The records that a ring held at a moment. */
export interface RingCopy {
  page: RingPage;
  /** Whole records, one after another. */
  records: readonly Buffer[];
  /** Bytes that were copied and discarded: the writer had released them, so they are in the file. */
  overtaken: number;
}

/** Of a format: bytes of the record that begins at a place; undefined if none does. */
export type RecordBytes = (bytes: Buffer, at: number) => number | undefined;

/**
 * Copies what a ring holds. The producer writes over nothing that the tail has not passed, so a copied byte
 * counts if it lies after the tail as read again.
 *
 * @param headBytes what `recordBytes` looks at.
 * @throws TraceFormatError when the ring does not hold whole records.
 */
export function copyRing(ring: LivingRing, headBytes: number, recordBytes: RecordBytes): RingCopy {
  let overtaken = 0;
  let faults = 0;
  for (let i = 0; i < MOST_COPIES; i++) {
    const page = ring.sample();
    const { records, end } = readRecords(ring, page, headBytes, recordBytes);
    const tail = ring.tail();
    const copied = Math.min(end, page.head);
    if (copied === page.head) {
      const kept = after(records, page.tail, tail, recordBytes);
      if (kept !== undefined) {
        const bytes = kept.reduce((sum, { length }) => sum + length, 0);
        return { page, records: kept, overtaken: overtaken + page.head - page.tail - bytes };
      }
    }
    if (tail > page.tail) overtaken += copied - page.tail;
    else if (++faults === MOST_FAULTS) throw noRecord(ring, page, copied);
  }
  return { page: ring.sample(), records: [], overtaken };
}

/** Reads records from the tail on; `end` is the position before which all are whole. */
function readRecords(
  ring: LivingRing,
  page: RingPage,
  headBytes: number,
  recordBytes: RecordBytes,
): { records: Buffer[]; end: number } {
  const { head } = page;
  const records: Buffer[] = [];
  let at = page.tail;
  let wanted = WINDOW_BYTES;
  while (at < head) {
    const window = ring.read(page, at, Math.min(head, at + wanted));
    let inside = 0;
    wanted = WINDOW_BYTES;
    while (inside + headBytes <= window.length) {
      const bytes = recordBytes(window, inside);
      if (bytes === undefined || bytes > head - at - inside) return { records, end: at + inside };
      if (bytes > window.length - inside) {
        wanted = Math.max(wanted, bytes);
        break;
      }
      inside += bytes;
    }
    if (inside > 0) records.push(window.subarray(0, inside));
    else if (wanted === WINDOW_BYTES) return { records, end: at };
    at += inside;
  }
  return { records, end: at };
}

/**
 * Of records that begin at `from` those from a position on. Undefined where none begins there: what precedes
 * it was written over, and what looks like records is none.
 */
function after(
  records: readonly Buffer[],
  from: number,
  position: number,
  recordBytes: RecordBytes,
): readonly Buffer[] | undefined {
  if (position <= from) return records;
  const kept: Buffer[] = [];
  let at = from;
  for (const window of records) {
    let inside = 0;
    while (at + inside < position && inside < window.length) inside += recordBytes(window, inside)!;
    if (kept.length === 0 && inside < window.length && at + inside !== position) return undefined;
    if (inside < window.length) kept.push(window.subarray(inside));
    at += window.length;
  }
  return kept;
}

function noRecord(ring: LivingRing, page: RingPage, position: number): TraceFormatError {
  const message = 'the ring must hold whole records, and here none begins or it is cut';
  return new TraceFormatError(ring.path, page.offsetOf(position), message, { field: 'record' });
}
