import { fstatSync, fsyncSync, ftruncateSync, readSync } from 'node:fs';
import { TraceFormatError } from '../errors.js';
import { readSeen } from '../files/file-view.js';
import type { FileView } from '../files/file-view.js';
import type { ReadAt } from '../files/file-window.js';
import { writeAll } from '../files/write-all.js';
import type { FeedingRing } from './feeding-ring.js';

// A file that one ring feeds. Readers see what is found out here, and a recovery writes it.

/** Bytes that are compared at a time. */
const COMPARED_BYTES = 1 << 20;
/** So many zeros are no records. */
const LEAST_ZEROS = 64;

/** The end of a stream, as its format finds it in the file. */
export interface Ending {
  /** Where the last whole record ends, in bytes from the start of the file. */
  end: number;
  /** The records that follow. */
  bytes: Uint8Array;
  records: number;
  endedMarks?: number | undefined;
}

/** Reads a file as a view shows it. Only the end of the view ends what is read: a record may begin before the view. */
export function readerOf(fd: number, view: FileView): ReadAt {
  return (into, count, position) => {
    let done = 0;
    while (done < count) {
      const read = readSeen(fd, view, into, done, count - done, position + done);
      if (read === 0) break;
      done += read;
    }
    return done;
  };
}

/** Ends a view where its last whole record ends, and adds the records of the ending. */
export function withEnding({ from, bytes }: FileView, ending: Ending): FileView {
  const kept = bytes.subarray(0, Math.max(0, ending.end - from));
  return { from: Math.min(from, ending.end), bytes: Buffer.concat([kept, ending.bytes]) };
}

/** Makes a file what a view shows of it, before anything else goes by that. */
export function writeView(fd: number, { from, bytes }: FileView): void {
  ftruncateSync(fd, writeAll(fd, bytes, from));
  fsyncSync(fd);
}

/**
 * Ensures that a file is the one that its ring feeds: where both have a byte, it is the same, and after what a
 * dead process has recorded lies nothing but what it, or a recovery, has noted.
 *
 * @param held what the ring holds, and where it lies in the file.
 * @throws TraceFormatError when it is another file, or one of them is damaged.
 */
export function checkJoin(path: string, fd: number, ring: FeedingRing, held: FileView): void {
  const { from, bytes } = held;
  const { size } = fstatSync(fd);
  if (size < from) {
    throw new TraceFormatError(
      path,
      size,
      `the file has lost its end: it must reach byte ${from}, where ${ring.path} begins. Both are left ` +
        'as they are',
      { field: 'size', value: size, limit: `at least ${from}` },
    );
  }
  // A recovery that has begun since has noted it.
  if (!ring.isRunning) checkEnd(path, size, ring);
  if (bytes.length >= LEAST_ZEROS && bytes.every((byte) => byte === 0)) {
    throw new TraceFormatError(
      ring.path,
      ring.sample().controlBytes,
      `the ring is filled with zeros: ${bytes.length} bytes that it held of ${path} are lost`,
      { field: 'record' },
    );
  }
  const written = Buffer.allocUnsafe(Math.min(COMPARED_BYTES, bytes.length));
  for (let at = 0; at < bytes.length;) {
    const count = Math.min(written.length, bytes.length - at);
    const read = readSync(fd, written, 0, count, from + at);
    if (read === 0) return;
    if (written.compare(bytes, at, at + read, 0, read) !== 0) {
      const message = `here lies something else than ${ring.path} holds for these bytes`;
      throw new TraceFormatError(path, from + at, message);
    }
    at += read;
  }
}

/**
 * Ensures that no other trace loses data when a file is cut where its ring says that the records end: after
 * them lies at most what the ring's process, or a recovery, has noted to be writing there.
 *
 * @throws TraceFormatError when there is more: the ring's page is wrong, or the ring is another file's.
 */
export function checkEnd(path: string, size: number, ring: FeedingRing): void {
  const { mostBytes, head, baseOffset } = ring.sample();
  if (size <= mostBytes) return;
  throw new TraceFormatError(
    path,
    baseOffset + head,
    `${ring.path} does not fit: it says that the records end here, but the file has ${size} bytes`,
    { field: 'head', value: head, limit: `at least ${size - baseOffset}` },
  );
}
