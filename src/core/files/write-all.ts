import { writeSync } from 'node:fs';

/**
 * Writes all of `bytes` at an offset of a file: one call of `write` may take only a part.
 *
 * @returns where they end, in bytes from the start of the file.
 */
export function writeAll(fd: number, bytes: Uint8Array, offset: number): number {
  let done = 0;
  while (done < bytes.length) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
  }
  return offset + done;
}
