import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { core } from './addon.js';
import { TraceFormatError } from './errors.js';
import type { Claim, RingFile } from './ring-file.js';

/** What finishing a stream has added to it. */
export interface RecoveredStream {
  /** The file that was completed. */
  path: string;
  /** Bytes that the ring still held. */
  bytes: number;
  /** Records that were added so that the stream ends. */
  addedRecords: number;
  /** Of those, the ones that end marks which were still pushed (ovni). */
  endedMarks?: number;
  /** Bytes of half a record that were cut off. */
  cutBytes?: number;
}

/** What ends a stream, as its format finds out from the file; see {@link recoverOwnFile}. */
export interface Ending {
  /** Where the last whole record ends, in bytes from the start of the file. */
  end: number;
  /** The records that follow. */
  bytes: Uint8Array;
  records: number;
  endedMarks?: number;
}

const WRITE_BYTES = 1 << 20;

function writeAt(fd: number, bytes: Uint8Array, offset: number): void {
  let done = 0;
  while (done < bytes.length) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
  }
}

/** Opens the target without following a link that somebody has put there. */
function openTarget(path: string): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (!fstatSync(fd).isFile()) {
    closeSync(fd);
    throw new TraceFormatError(path, 0, 'the target of a ring must be a plain file');
  }
  return fd;
}

function copyRing(ring: RingFile, from: number, to: number, fd: number, offset: number): void {
  for (let at = from; at < to; at += WRITE_BYTES) {
    const end = Math.min(to, at + WRITE_BYTES);
    writeAt(fd, ring.read(at, end), offset + at - from);
  }
}

function epilogueOf(ring: RingFile, end: number): Ending {
  const { records, bytes } = ring.epilogue;
  const each = records === 0 ? 0 : bytes.length / records;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // A record that ends in front of the stamp's place has none.
  for (let i = 0; i < records && ring.stampOffset + 8 <= each; i++) {
    view.setBigUint64(i * each + ring.stampOffset, ring.lastStamp, endianness() === 'LE');
  }
  return { end, bytes, records };
}

function writeEnding(
  fd: number,
  size: number,
  ending: Ending,
): Omit<RecoveredStream, 'path' | 'bytes'> {
  const { end, bytes, records, endedMarks } = ending;
  if (end < size) ftruncateSync(fd, end);
  writeAt(fd, bytes, end);
  return {
    addedRecords: records,
    ...(endedMarks === undefined ? {} : { endedMarks }),
    ...(end < size ? { cutBytes: size - end } : {}),
  };
}

/**
 * Completes a file whose ring is gone with it, or on a file system that is: half a record is cut
 * off, and the records that end the stream follow.
 */
export function endFile(
  target: string,
  endingOf: (fd: number, end: number) => Ending,
): RecoveredStream {
  const fd = openTarget(target);
  try {
    const { size } = fstatSync(fd);
    return { path: target, bytes: 0, ...writeEnding(fd, size, endingOf(fd, size)) };
  } finally {
    closeSync(fd);
  }
}

/**
 * Completes a file that one ring feeds: what the ring holds goes to its place, whatever lies behind
 * it (half a write) is cut, and the records that end the stream follow. Every step can be done
 * twice, so an interrupted recovery is simply repeated.
 *
 * @param target derived from where the ring's file lies, never from what it says.
 * @param endingOf finds out what ends the stream, from its file and its size; by default it is the
 *   epilogue that the process has laid down in the ring.
 */
export function recoverOwnFile(
  ring: RingFile,
  target: string,
  endingOf: (fd: number, end: number) => Ending = (_, end) => epilogueOf(ring, end),
): RecoveredStream {
  const fd = openTarget(target);
  try {
    const { size } = fstatSync(fd);
    const start = ring.baseOffset + ring.tail;
    if (size < start) {
      throw new TraceFormatError(
        target,
        size,
        `the file must reach byte ${start}, where its ring begins`,
      );
    }
    copyRing(ring, ring.tail, ring.head, fd, start);
    const end = ring.baseOffset + ring.head;
    ftruncateSync(fd, end);
    return {
      path: target,
      bytes: ring.head - ring.tail,
      ...writeEnding(fd, end, endingOf(fd, end)),
    };
  } finally {
    closeSync(fd);
  }
}

/** Where the place of a chunk ends in the file. */
export function endOfClaim({ from, to, offset }: Claim): number {
  return offset + to - from;
}

/**
 * Completes a file that several rings feed with what one of them holds: a chunk that was under way
 * is written again at its place, the rest takes a place at the end, which is noted first.
 *
 * @param recordsEnd where the file ends as far as other rings have noted: the larger of its size and
 *   the end of every place that they have noted.
 */
export function recoverSharedFile(
  ring: RingFile,
  target: string,
  recordsEnd: number,
): RecoveredStream {
  const fd = openTarget(target);
  try {
    const { claim, head, tail } = ring;
    let next = tail;
    if (claim.to > tail) {
      if (claim.from > tail || claim.to > head) {
        throw new TraceFormatError(ring.path, 0, 'the noted chunk must lie in the ring', {
          field: 'claim',
          value: claim,
        });
      }
      if (claim.offset > recordsEnd) {
        throw new TraceFormatError(
          ring.path,
          core.control.claimOffset,
          `the noted place, byte ${claim.offset} of ${target}, lies beyond byte ${recordsEnd}, where ` +
            'the file and the places of all other rings end',
          { field: 'claim', value: claim.offset, limit: `at most ${recordsEnd}` },
        );
      }
      copyRing(ring, tail, claim.to, fd, claim.offset + tail - claim.from);
      next = claim.to;
      // Before the next place is noted, for a note says where the ring goes on.
      ring.noteTail(next);
    }
    if (next < head) {
      const offset = claim.to > tail ? Math.max(recordsEnd, endOfClaim(claim)) : recordsEnd;
      ring.noteClaim({ from: next, to: head, offset });
      copyRing(ring, next, head, fd, offset);
    }
    return { path: target, bytes: head - tail, addedRecords: 0 };
  } finally {
    closeSync(fd);
  }
}

/**
 * Cuts off a record that was being written past the ring when the process died: behind the place
 * that the ring has noted for it nobody has written. To be done for every ring of a file before any
 * of them is recovered.
 */
export function cutUnfinishedRecord(ring: RingFile, target: string): void {
  const { from, to, offset } = ring.claim;
  if (from !== to || offset === 0) return;
  const fd = openTarget(target);
  try {
    if (fstatSync(fd).size > offset) ftruncateSync(fd, offset);
  } finally {
    closeSync(fd);
  }
  ring.noteClaim({ from, to, offset: 0 });
}

/** Takes a ring's file away once its stream is complete. */
export function discardRing(ring: RingFile): void {
  ring.close();
  unlinkSync(ring.path);
}
