import { TraceFormatError } from '../errors.js';
import type { FeedingRing } from '../recovery/feeding-ring.js';
import type { RingPage } from '../recovery/ring-page.js';

/** Copies that a writer may overtake, each at its first byte, before the ring is left to the file. */
const MOST_COPIES = 20;
/** Copies that are no whole records, though nobody has overtaken them. */
const MOST_FAULTS = 5;

/** The records that a ring held at a moment. */
interface RingCopy {
  page: RingPage;
  /** Whole records, one after another. */
  records: Buffer;
  /** Bytes that were copied and discarded: the writer had released them, so they are in the file. */
  overtaken: number;
}

/** Of a format: bytes of the record that begins at an offset; undefined if none does. */
type RecordBytes = (bytes: Buffer, at: number) => number | undefined;

/**
 * Copies what a ring holds. The producer writes over nothing that the tail has not passed, so a copied byte
 * counts if it lies after the tail as read again.
 *
 * @param headBytes what `recordBytes` looks at.
 * @throws TraceFormatError when the ring does not hold whole records.
 */
export function copyRing(ring: FeedingRing, headBytes: number, recordBytes: RecordBytes): RingCopy {
  let overtaken = 0;
  for (let i = 0, faults = 0; i < MOST_COPIES; i++) {
    const page = ring.sample();
    const bytes = ring.content.read(page, page.tail, page.head);
    const end = endOfRecords(bytes, headBytes, recordBytes);
    const released = Math.min(page.head, ring.releasedTo()) - page.tail;
    if (end === bytes.length) {
      const from = released > 0 ? beginningAt(released, bytes, recordBytes) : 0;
      if (from === released) {
        return { page, records: bytes.subarray(from), overtaken: overtaken + from };
      }
    }
    if (released > 0) overtaken += end;
    else if (++faults === MOST_FAULTS || !ring.isRunning) throw noRecord(page, bytes, end);
  }
  return { page: ring.sample(), records: Buffer.alloc(0), overtaken };
}

/** Where whole records end that begin at the start of `bytes`. */
export function endOfRecords(bytes: Buffer, headBytes: number, recordBytes: RecordBytes): number {
  let at = 0;
  while (at + headBytes <= bytes.length) {
    const size = recordBytes(bytes, at);
    if (size === undefined || size > bytes.length - at) break;
    at += size;
  }
  return at;
}

/** Where the first record begins that is not before a position. */
function beginningAt(position: number, bytes: Buffer, recordBytes: RecordBytes): number {
  let at = 0;
  while (at < position) at += recordBytes(bytes, at)!;
  return at;
}

function noRecord(page: RingPage, bytes: Buffer, end: number): TraceFormatError {
  const rest = bytes.subarray(end);
  const message = rest.some((byte) => byte !== 0)
    ? 'the ring must hold whole records, and here none begins or it is cut'
    : `the ring is filled with zeros: ${rest.length} bytes of records that it held are lost`;
  const offset = page.offsetOf(page.tail + end);
  return new TraceFormatError(page.path, offset, message, { field: 'record' });
}
