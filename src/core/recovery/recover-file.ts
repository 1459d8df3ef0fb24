import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
} from 'node:fs';
import { LITTLE } from '../byte-order.js';
import { core } from '../addon.js';
import { TraceFormatError } from '../errors.js';
import { writeAll } from '../files/write-all.js';
import type { FileView } from '../files/file-view.js';
import { checkJoin, readerOf, withEnding, writeView } from './own-file.js';
import type { Ending, ReadAt } from './own-file.js';
import type { RecoveredStream } from './recovery.js';
import type { RingFile } from './ring-file.js';
import type { RingPage } from './ring-page.js';

const WRITE_BYTES = 1 << 20;

/**
 * Opens the target without following a link that an attacker has put there.
 *
 * @param ring that is to be written there. The file may be another one than when the ring was believed.
 */
function openTarget(path: string, ring?: RingFile): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const status = fstatSync(fd);
  if (!status.isFile()) {
    closeSync(fd);
    throw new TraceFormatError(path, 0, 'the target of a ring must be a regular file');
  }
  const doubt = ring?.doubt(path, status);
  if (doubt !== undefined) {
    closeSync(fd);
    throw doubt;
  }
  return fd;
}

/**
 * A stretch of a file that a ring says to be for what it holds. Others may have written after it already, so
 * that it reads as zeros.
 */
interface Place {
  fd: number;
  target: string;
  offset: number;
}

/**
 * Ensures that nothing is overwritten with something else: what is at the place already can only be what
 * the ring holds.
 *
 * @param held the bytes [from, to) of the `count` that are for the place.
 */
function checkPlace(
  ring: RingFile,
  { fd, target, offset }: Place,
  count: number,
  held: (from: number, to: number) => Buffer,
): void {
  const written = Buffer.alloc(Math.min(WRITE_BYTES, count));
  for (let at = 0; at < count;) {
    const read = readSync(fd, written, 0, Math.min(written.length, count - at), offset + at);
    if (read === 0) return;
    const bytes = held(at, at + read);
    if (written.compare(bytes, 0, read, 0, read) !== 0) {
      const differs = bytes.findIndex((byte, i) => {
        return written[i] !== byte && written[i] !== 0;
      });
      if (differs !== -1) {
        throw new TraceFormatError(
          target,
          offset + at + differs,
          `here lies something else than ${ring.path} holds for this place`,
        );
      }
    }
    at += read;
  }
}

function checkPlaceOfRing(ring: RingFile, from: number, to: number, place: Place): void {
  checkPlace(ring, place, to - from, (first, last) => ring.read(from + first, from + last));
}

function copyRing(ring: RingFile, from: number, to: number, fd: number, offset: number): void {
  for (let at = from; at < to; at += WRITE_BYTES) {
    const end = Math.min(to, at + WRITE_BYTES);
    writeAll(fd, ring.read(at, end), offset + at - from);
  }
}

/** The records that a process has laid down in its ring for the end of its stream. */
export function epilogueOf(
  ring: Pick<RingPage, 'epilogue' | 'stampOffset' | 'lastStamp'>,
  end: number,
): Ending {
  const { records, bytes } = ring.epilogue;
  const each = records === 0 ? 0 : bytes.length / records;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // A record that ends in front of the stamp's place has none.
  for (let i = 0; i < records && ring.stampOffset + 8 <= each; i++) {
    view.setBigUint64(i * each + ring.stampOffset, ring.lastStamp, LITTLE);
  }
  return { end, bytes, records };
}

/** Writes what readers would see of a file with its ending. */
function writeEnding(
  fd: number,
  held: FileView,
  endingOf: (read: ReadAt, end: number) => Ending,
): Omit<RecoveredStream, 'path'> {
  const end = held.from + held.bytes.length;
  const ending = endingOf(readerOf(fd, held), end);
  writeView(fd, withEnding(held, ending));
  const { records, endedMarks } = ending;
  return {
    bytes: held.bytes.length,
    addedRecords: records,
    ...(endedMarks === undefined ? {} : { endedMarks }),
    ...(ending.end < end ? { cutBytes: end - ending.end } : {}),
  };
}

/**
 * Completes a file whose ring is gone with it, or on a file system that is: half a record is cut
 * off, and the records that end the stream follow.
 */
export function endFile(
  target: string,
  endingOf: (read: ReadAt, end: number) => Ending,
): RecoveredStream {
  const fd = openTarget(target);
  try {
    const held = { from: fstatSync(fd).size, bytes: Buffer.alloc(0) };
    return { path: target, ...writeEnding(fd, held, endingOf) };
  } finally {
    closeSync(fd);
  }
}

/**
 * Completes a file that one ring feeds: what the ring holds goes to its place, whatever lies after
 * it (half a record) is cut, and the records that end the stream follow. Every step can be done
 * twice, so an interrupted recovery is simply repeated.
 *
 * @param target derived from where the ring's file lies, never from what it says.
 * @param endingOf finds out what ends the stream, from its file and its size; by default it is the
 *   epilogue that the process has laid down in the ring.
 */
export function recoverOwnFile(
  ring: RingFile,
  target: string,
  endingOf: (read: ReadAt, end: number) => Ending = (_, end) => epilogueOf(ring, end),
): RecoveredStream {
  const fd = openTarget(target, ring);
  try {
    const held = { from: ring.baseOffset + ring.tail, bytes: ring.read(ring.tail, ring.head) };
    checkJoin(target, fd, ring, held);
    ring.noteEnd();
    return { path: target, ...writeEnding(fd, held, endingOf) };
  } finally {
    closeSync(fd);
  }
}

/** @throws TraceFormatError when the place that a ring has noted lies beyond the end of all others. */
function checkNotedPlace({ claim, path }: RingFile, target: string, recordsEnd: number): void {
  if (claim.offset <= recordsEnd) return;
  throw new TraceFormatError(
    path,
    core.control.claimOffset,
    `the noted place, byte ${claim.offset} of ${target}, lies beyond byte ${recordsEnd}, where ` +
      'the file and the places of all other rings end',
    { field: 'claim', value: claim.offset, limit: `at most ${recordsEnd}` },
  );
}

/**
 * Completes a file that several rings feed with what one of them holds: a chunk that was under way
 * is written again at its place, the rest takes a place at the end, which is noted first. The records
 * that were open follow.
 *
 * @param recordsEnd where the file ends as far as all its rings have noted.
 * @param isRecord whether bytes are a whole record of the format: an open record that is none is
 *   skipped.
 */
export function recoverSharedFile(
  ring: RingFile,
  target: string,
  recordsEnd: number,
  isRecord: (bytes: Buffer) => boolean,
): RecoveredStream {
  const fd = openTarget(target, ring);
  try {
    const { claim, head, tail } = ring;
    let next = tail;
    let end = recordsEnd;
    if (ring.hasPlace) {
      checkNotedPlace(ring, target, recordsEnd);
      checkPlaceOfRing(ring, tail, claim.to, { fd, target, offset: claim.offset });
      copyRing(ring, tail, claim.to, fd, claim.offset);
      fsyncSync(fd);
      next = claim.to;
      // Before the next place is noted, for a note says where the ring goes on.
      ring.noteTail(next);
    }
    if (next < head) {
      ring.noteClaim({ from: next, to: head, offset: end });
      copyRing(ring, next, head, fd, end);
      fsyncSync(fd);
      end += head - next;
      ring.noteTail(head);
    }
    const unfinishedRecords = writeOpenRecords(ring, { fd, target, offset: end }, isRecord);
    return {
      path: target,
      bytes: head - tail,
      addedRecords: unfinishedRecords,
      ...(unfinishedRecords === 0 ? {} : { unfinishedRecords }),
    };
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes the records that were open after all that the ring held.
 *
 * @param to where the file ends.
 * @returns how many.
 */
function writeOpenRecords(
  ring: RingFile,
  { fd, target, offset }: Place,
  isRecord: (bytes: Buffer) => boolean,
): number {
  const { claim, head, openRecords } = ring;
  if (openRecords === undefined) return 0;
  if (!ring.hasOpenPlace) {
    const { bytes, records } = openRecords.close(head, ring.afterHead(), isRecord);
    if (records === 0) return 0;
    ring.noteClaim({ from: head, to: head + bytes.length, offset });
    writeAll(fd, bytes, offset);
    fsyncSync(fd);
    ring.noteOpenWritten(bytes.length);
    return records;
  }
  checkNotedPlace(ring, target, offset);
  const { bytes, records } = openRecords.closedAt(head, isRecord);
  if (bytes.length !== claim.to - claim.from) {
    throw new TraceFormatError(
      ring.path,
      core.control.claimFrom,
      `the open records must take the ${claim.to - claim.from} bytes of their place, got ${bytes.length}`,
      { field: 'claim', value: claim, limit: `${bytes.length} bytes` },
    );
  }
  const place = { fd, target, offset: claim.offset };
  checkPlace(ring, place, bytes.length, (from, to) => bytes.subarray(from, to));
  writeAll(fd, bytes, claim.offset);
  fsyncSync(fd);
  ring.noteOpenWritten(bytes.length);
  return records;
}

/**
 * Cuts off a record that was being written past the ring when the process died: after the place
 * that the ring has noted for it nobody has written. To be done for every ring of a file before any
 * of them is recovered.
 *
 * @param recordBytes how long the record says to be that begins at a place of the file; undefined
 *   where none does.
 * @throws TraceFormatError when more lies there than the record, or something else.
 */
export function cutUnfinishedRecord(
  ring: RingFile,
  target: string,
  recordBytes: (fd: number, offset: number) => number | undefined,
): void {
  const { from, to, offset } = ring.claim;
  if (from !== to || offset === 0) return;
  const fd = openTarget(target, ring);
  try {
    const { size } = fstatSync(fd);
    if (size > offset) {
      const bytes = recordBytes(fd, offset);
      if (bytes === undefined || offset + bytes < size) {
        throw new TraceFormatError(
          target,
          offset,
          `the file must end in the record that ${ring.path} says to be unfinished`,
          { field: 'claim', value: offset, limit: 'the place of the last record' },
        );
      }
      if (offset + bytes > size) ftruncateSync(fd, offset);
      // A whole one needs no cut, and what it ends is no longer open.
      else ring.openRecords?.discardCommitting(ring.head);
    }
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
