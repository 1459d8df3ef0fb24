import { closeSync, constants, fstatSync, openSync, unlinkSync } from 'node:fs';
import { LITTLE } from '../byte-order.js';
import { TraceFormatError } from '../errors.js';
import type { FileView } from '../files/file-view.js';
import { checkJoin, readerOf, withEnding, writeView } from './own-file.js';
import type { ReadAt } from '../files/file-window.js';
import type { Ending } from './own-file.js';
import type { RecoveredStream } from './recovery.js';
import type { RingFile } from './ring-file.js';
import type { RingPage } from './ring-page.js';

/**
 * Opens the target without following a link that an attacker has put there.
 *
 * @param rings that are to be written there. The file may be another one than when they were believed.
 */
export function openTarget(path: string, ...rings: readonly RingFile[]): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const status = fstatSync(fd);
  if (!status.isFile()) {
    closeSync(fd);
    throw new TraceFormatError(path, 0, 'the target of a ring must be a regular file');
  }
  for (const ring of rings) {
    const doubt = ring.doubt(path, status);
    if (doubt === undefined) continue;
    closeSync(fd);
    throw doubt;
  }
  return fd;
}

/** The records that a process has laid down in its ring for the end of its stream. */
export function epilogueOf(
  ring: Pick<RingPage, 'epilogue' | 'stampOffset' | 'lastStamp'>,
  end: number,
): Ending {
  const { records, bytes } = ring.epilogue;
  const each = records === 0 ? 0 : bytes.length / records;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // A record that ends before the stamp's offset has none.
  for (let i = 0; i < records && ring.stampOffset + 8 <= each; i++) {
    view.setBigUint64(i * each + ring.stampOffset, ring.lastStamp, LITTLE);
  }
  return { end, bytes, records };
}

/** Writes what readers would see of a file with its ending. */
function writeEnding(fd: number, held: FileView, ending: Ending): Omit<RecoveredStream, 'path'> {
  const end = held.from + held.bytes.length;
  writeView(fd, withEnding(held, ending));
  const { records, endedMarks } = ending;
  return {
    bytes: held.bytes.length,
    addedRecords: records,
    endedMarks,
    cutBytes: ending.end < end ? end - ending.end : undefined,
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
    return { path: target, ...writeEnding(fd, held, endingOf(readerOf(fd, held), held.from)) };
  } finally {
    closeSync(fd);
  }
}

/**
 * Completes a file that one ring feeds: what the ring holds goes to its offset, whatever lies after
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
    const held = {
      from: ring.baseOffset + ring.tail,
      bytes: ring.content.read(ring, ring.tail, ring.head),
    };
    checkJoin(target, fd, ring, held);
    // Before anything changes: the file may be damaged.
    const ending = endingOf(readerOf(fd, held), held.from + held.bytes.length);
    ring.noteEnd();
    return { path: target, ...writeEnding(fd, held, ending) };
  } finally {
    closeSync(fd);
  }
}

/** Takes a ring's file away once its stream is complete. */
export function discardRing(ring: RingFile): void {
  ring.close();
  unlinkSync(ring.path);
}
