import { TraceFormatError } from '../../core/errors.js';
import type { Ending, ReadAt } from '../../core/recovery/own-file.js';
import { epilogueOf } from '../../core/recovery/recover-file.js';
import type { RingPage } from '../../core/recovery/ring-page.js';
import { kindOfRingFormat } from '../file-names.js';
import { RECORD_BYTES, TYPE_OFFSET } from '../layout.js';

/** Whole records. */
const CHUNK_BYTES = RECORD_BYTES << 14;

/**
 * The ending of a trace of a dead process.
 *
 * @throws TraceFormatError when a block of the file is filled with zeros: no line has a zero, and no binary
 *   record is of type 0.
 */
export function endingOf(path: string, ring: RingPage, read: ReadAt, end: number): Ending {
  const step = kindOfRingFormat(ring.format) === 'binary' ? RECORD_BYTES : 1;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let from = 0; from < end; from += CHUNK_BYTES) {
    const length = read(chunk, Math.min(CHUNK_BYTES, end - from), from);
    const zero = firstZero(chunk.subarray(0, length), step);
    if (zero !== -1) {
      const message = 'the file is damaged: a block of zeros begins here, or in the record before';
      throw new TraceFormatError(path, from + zero, `${message}. It is left as it is`);
    }
  }
  return epilogueOf(ring, end);
}

/** Where the first zero lies that is at a multiple of `step`; -1: there is none. */
function firstZero(bytes: Buffer, step: number): number {
  if (step === 1) return bytes.indexOf(0);
  for (let at = TYPE_OFFSET; at < bytes.length; at += step) if (bytes[at] === 0) return at;
  return -1;
}
