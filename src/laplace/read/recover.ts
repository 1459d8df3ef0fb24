import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { writeAll } from '../../core/files/write-all.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import type { ReadAt } from '../../core/files/file-window.js';
import type { Ending } from '../../core/recovery/own-file.js';
import { discardRing, epilogueOf, recoverOwnFile } from '../../core/recovery/recover-file.js';
import { discardUnused, recoverRings } from '../../core/recovery/recover-rings.js';
import { whileLocked } from '../../core/recovery/recovery-lock.js';
import { RECOVER_OPTIONS, checkWait, nothingToRecover } from '../../core/recovery/recovery.js';
import type { RecoveredStream, Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import type { RingPage } from '../../core/recovery/ring-page.js';
import { kindOfRingFormat, ringCandidates } from '../file-names.js';
import type { TraceKind } from '../file-names.js';
import { END_LINE, LONGEST_LINE } from '../kernel-event-kinds.js';
import { LONGEST_REFERENCE_LINE, NEWLINE, RECORD_BYTES, TYPE_OFFSET } from '../layout.js';
import { readKernelEvents } from './kernel-reader.js';
import { readReferences } from './reference-reader.js';

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

/** Options of `recoverTrace`. */
export interface LaplaceRecoverOptions extends RecoverOptions {
  /**
   * The kind of a trace without a ring, for instance one that another program wrote. An incomplete
   * record at its end is cut off, and a kernel trace gets its end. Without `kind` only the content of
   * rings is recovered.
   */
  kind?: TraceKind;
}

/**
 * Completes a reference or kernel trace whose process is dead. The content of its ring is written to
 * the file, an incomplete record after it is cut off, a kernel trace gets its `c`, and the ring is
 * removed. A recovery can be interrupted and repeated.
 *
 * @param path of the trace's file.
 * @throws TracewrightError `ERR_ORDER` when the process that writes the trace is alive, `ERR_TIMEOUT`
 *   when another recovery takes longer than `waitMs`; nothing is changed then. `ERR_SYSTEM` when the
 *   file cannot be read or written.
 */
export function recoverTrace(path: string, options: LaplaceRecoverOptions = {}): Recovery {
  const file = checkPath('path', path);
  options = ownOptions(options, [...RECOVER_OPTIONS, 'kind']);
  const waitMs = checkWait(options);
  const nothing = ringCandidates(file, options.ringDir).next().done === true;
  if (nothing && options.kind === undefined) return nothingToRecover();
  return whileLocked([dirname(file)], waitMs, () => recoverFile(file, options));
}

function recoverFile(file: string, { ringDir, kind }: LaplaceRecoverOptions): Recovery {
  const result = recoverRings(ringCandidates(file, ringDir), (leftover, _, done) => {
    if (discardUnused(leftover, done)) return;
    const { ring, stream } = leftover;
    done.streams.push(
      recoverOwnFile(ring, stream, (read, end) => endingOf(stream, ring, read, end)),
    );
    discardRing(ring);
  });
  // Only a ring existed.
  if (result.emptied.length > 0 && !existsSync(file)) return result;
  if (kind === undefined || result.streams.length + result.faults.length > 0) return result;
  const ended = wrapSystemError('path', file, () => endWithoutRing(file, kind));
  if (ended !== undefined) result.streams.push(ended);
  return result;
}

/**
 * Reads the first record of a trace.
 *
 * @throws TraceFormatError when the trace does not begin with a record.
 */
export function readFirstRecord(path: string, kind: TraceKind): void {
  const records = kind === 'kernel' ? readKernelEvents(path) : readReferences(path, { form: kind });
  for (const record of records) {
    if (record.offset === 0) return;
  }
}

/** Cuts off an incomplete record and adds a missing end; undefined if there was nothing to do. */
function endWithoutRing(file: string, kind: TraceKind): RecoveredStream | undefined {
  const fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(fd);
    if (!status.isFile()) throw new TraceFormatError(file, 0, 'a trace must be a regular file');
    const { size } = status;
    if (kind === 'binary') {
      const whole = size - (size % RECORD_BYTES);
      if (whole > 0) readFirstRecord(file, kind);
      return cut(fd, file, size, whole, '');
    }
    const longest = kind === 'text' ? LONGEST_REFERENCE_LINE : LONGEST_LINE;
    const tail = Buffer.alloc(Math.min(size, longest + END_LINE.length));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    if (kind === 'kernel' && /(?:^|\n)c\n?$/.test(tail.toString('latin1'))) return undefined;
    const newline = tail.lastIndexOf(NEWLINE);
    if (newline === -1 && tail.length === longest + END_LINE.length) {
      throw new TraceFormatError(
        file,
        size - tail.length,
        `no line is longer than ${longest} bytes`,
      );
    }
    const whole = size - tail.length + newline + 1;
    if (whole > 0) readFirstRecord(file, kind);
    return cut(fd, file, size, whole, kind === 'kernel' ? END_LINE : '');
  } finally {
    closeSync(fd);
  }
}

function cut(
  fd: number,
  path: string,
  size: number,
  whole: number,
  end: string,
): RecoveredStream | undefined {
  if (whole === size && end === '') return undefined;
  ftruncateSync(fd, whole);
  writeAll(fd, Buffer.from(end), whole);
  return {
    path,
    bytes: 0,
    addedRecords: end === '' ? 0 : 1,
    cutBytes: size - whole || undefined,
  };
}
