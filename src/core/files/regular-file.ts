import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { TraceFormatError } from '../errors.js';
import { readSeen, viewOf } from './file-view.js';
import type { FileView } from './file-view.js';
import { hasCode } from './system-error.js';

/**
 * Whether a symbolic link at a path is followed. A function refuses links, too, and then judges the open file: it
 * throws if this is not to be read.
 */
export type Links = 'followed' | 'refused' | ((path: string, fd: number, status: Stats) => void);

/** A regular file that is open for reading. */
export interface RegularFile {
  fd: number;
  /** Bytes, as it was when it was opened. */
  size: number;
  /** Replaces its end for readers; undefined: they see all of it. */
  view: FileView | undefined;
}

/** Bytes that readers see of a file. */
export function seenSize({ size, view }: Pick<RegularFile, 'size' | 'view'>): number {
  return view === undefined ? size : view.from + view.bytes.length;
}

function open(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    // A link that is not followed, or a socket.
    if (hasCode(error, 'ELOOP') || hasCode(error, 'ENXIO')) throw notRegular(path);
    throw error;
  }
}

function notRegular(path: string): TraceFormatError {
  return new TraceFormatError(path, 0, 'this is not a regular file');
}

/**
 * Opens a file that another user may have put there. What lies at a path can change at any time,
 * so it is looked at after the open, which waits for nobody at the other end of a pipe.
 *
 * @param links whether symbolic links are followed: not in a directory that a trace's writer chose.
 * @throws TraceFormatError when it is not a regular file; the error of `openSync` when it cannot be opened.
 */
export function openRegularFile(path: string, links: Links): RegularFile {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const fd = open(path, O_RDONLY | O_NONBLOCK | (links === 'followed' ? 0 : O_NOFOLLOW));
  try {
    const status = fstatSync(fd);
    if (!status.isFile()) throw notRegular(path);
    if (typeof links === 'function') links(path, fd, status);
    return { fd, size: status.size, view: viewOf(status) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function readFrom({ fd, view }: Pick<RegularFile, 'fd' | 'view'>, bytes: Buffer): Buffer {
  let end = 0;
  while (end < bytes.length) {
    const read = readSeen(fd, view, bytes, end, bytes.length - end, end);
    if (read === 0) break;
    end += read;
  }
  return bytes.subarray(0, end);
}

/**
 * Reads the whole of a file that another user may have put there.
 *
 * @param limit the most bytes that it may have.
 * @throws TraceFormatError when it is not a regular file, or larger; the error of node:fs when it cannot be
 *   read.
 */
export function readRegularFile(
  path: string,
  limit: number,
  links: 'followed' | 'refused' = 'refused',
): Buffer {
  const file = openRegularFile(path, links);
  const size = seenSize(file);
  try {
    if (size > limit) {
      throw new TraceFormatError(
        path,
        0,
        `this file has ${size} bytes; at most ${limit} are read`,
        {
          field: 'size',
          value: size,
          limit: `at most ${limit} bytes`,
        },
      );
    }
    return readFrom(file, Buffer.allocUnsafe(size));
  } finally {
    closeSync(file.fd);
  }
}

/**
 * The first bytes of a file, as many as there are up to `count`, by which to tell what it is. Of what
 * is not a regular file: none.
 */
export function headOfFile(path: string, count: number): Buffer {
  let file: RegularFile;
  try {
    file = openRegularFile(path, 'followed');
  } catch (error) {
    if (error instanceof TraceFormatError) return Buffer.alloc(0);
    throw error;
  }
  try {
    return readFrom(file, Buffer.allocUnsafe(count));
  } finally {
    closeSync(file.fd);
  }
}
