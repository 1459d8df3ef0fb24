import { closeSync, constants, ftruncateSync, openSync, readSync } from 'node:fs';
import { writeAll } from '../core/files/write-all.js';
import { BODY_OFFSET } from './layout.js';
import { encodeSections } from './section-encoder.js';
import type { SectionContents } from './section-encoder.js';

const CHUNK_BYTES = 256 * 1024;

/**
 * Writes everything behind the calls of a rank's file and cuts what lay behind it. It can be done
 * twice: its place follows from the end of the body.
 *
 * @param bodyEnd bytes from the start of the file to the end of the last call.
 * @param names the file that holds the entries of the function names, of which the contents say how
 *   many bytes; undefined when there are none.
 */
export function writeTrailer(
  file: string,
  bodyEnd: number,
  contents: SectionContents,
  names: string | undefined,
): void {
  const { before, after } = encodeSections(bodyEnd, contents, BODY_OFFSET);
  const fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    let at = writeAll(fd, before, bodyEnd);
    if (names !== undefined) at = copyFile(names, contents.functionNames?.bytes ?? 0, fd, at);
    ftruncateSync(fd, writeAll(fd, after, at));
  } finally {
    closeSync(fd);
  }
}

function copyFile(from: string, bytes: number, to: number, at: number): number {
  const fd = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes));
    let done = 0;
    while (done < bytes) {
      const read = readSync(fd, chunk, 0, Math.min(chunk.length, bytes - done), done);
      if (read === 0) throw new Error(`${from} ends at byte ${done} instead of ${bytes}`);
      at = writeAll(to, chunk.subarray(0, read), at);
      done += read;
    }
    return at;
  } finally {
    closeSync(fd);
  }
}
