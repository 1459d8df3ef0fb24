import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import { namesEnding } from '../../core/files/directory-names.js';
import { sizeOf } from '../../core/files/file-kind.js';
import { headOfFile } from '../../core/files/regular-file.js';
import { hasCode } from '../../core/files/system-error.js';
import { writeAll } from '../../core/files/write-all.js';
import { cutEndAt, cutEndOf } from '../file-names.js';
import type { CutEnd } from '../file-names.js';
import {
  DEFAULT_MAX_PACKET_BYTES,
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  MAGIC_OFFSET,
  METADATA_MAGIC,
  OPTION_NAME_OFFSET,
  PACKET_HEAD_BYTES,
  SIZE_OFFSET,
} from '../layout.js';
import { EVENT_BYTES, METADATA_BYTES } from './packet-head.js';

const WINDOW_BYTES = 1 << 20;

/**
 * What follows the last whole packet of a file: the beginning of a packet, zeros, or something else, which may
 * have packets in it.
 */
export function restOf(fd: number, from: number, size: number): 'half' | 'zeros' | 'broken' {
  if (areZeros(fd, from, size)) return 'zeros';
  if (size - from > DEFAULT_MAX_PACKET_BYTES) return 'broken';
  const rest = Buffer.alloc(size - from);
  readSync(fd, rest, 0, rest.length, from);
  const begins = rest.subarray(0, EVENT_BYTES.length);
  const isPacket = [EVENT_BYTES, METADATA_BYTES].some((magic) =>
    magic.subarray(0, begins.length).equals(begins),
  );
  const isCut = rest.length < PACKET_HEAD_BYTES || rest.readUInt32BE(SIZE_OFFSET) > rest.length;
  // Another event in it: what is wrong is the size of this one.
  return isPacket && isCut && rest.indexOf(EVENT_BYTES, 1) === -1 ? 'half' : 'broken';
}

function areZeros(fd: number, from: number, size: number): boolean {
  const window = Buffer.alloc(Math.min(WINDOW_BYTES, size - from));
  for (let at = from, read; at < size; at += read) {
    read = readSync(fd, window, 0, Math.min(window.length, size - at), at);
    if (read === 0 || window.subarray(0, read).some((byte) => byte !== 0)) return read === 0;
  }
  return true;
}

const COPY_BYTES = 1 << 20;
const { O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

/** The value of the epoch packet with which a file begins; 0: it has none. */
function epochOf(file: string): bigint {
  const head = headOfFile(file, EPOCH_PACKET_BYTES);
  const isWhole = head.length === EPOCH_PACKET_BYTES;
  if (!isWhole || head.readUInt32BE(MAGIC_OFFSET) !== METADATA_MAGIC) return 0n;
  return head.readBigUInt64BE(OPTION_NAME_OFFSET + 2 + EPOCH_OPTION.length);
}

/**
 * Cuts off what follows the last whole packet of a file that has lost its end, and keeps it next to the file.
 * Cuts the end off and keeps it: later readers see by it that the file is not whole, even if it has no bytes.
 *
 * @param fd of the file, open for reading and writing.
 */
export function cutEnd(file: string, fd: number, offset: number): void {
  const { path } = cutEndOf(file, epochOf(file), offset);
  const { mode, size } = fstatSync(fd);
  const kept = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, mode & 0o777);
  try {
    const bytes = Buffer.alloc(COPY_BYTES);
    // An interrupted recovery has copied all of it before it cut the file.
    for (let at = offset, read; (read = readSync(fd, bytes, 0, COPY_BYTES, at)) > 0; at += read) {
      writeAll(kept, bytes.subarray(0, read), at - offset);
    }
    fsyncSync(kept);
  } finally {
    closeSync(kept);
  }
  if (size > offset) ftruncateSync(fd, offset);
}

function cutEndsOf(file: string): CutEnd[] {
  let names: readonly string[];
  try {
    names = namesEnding('.cut', dirname(file));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EACCES')) return [];
    throw error;
  }
  const path = resolve(file);
  const ends = names
    .map((name) => cutEndAt(join(dirname(path), name)))
    .filter((end): end is CutEnd => end?.file === path);
  if (ends.length === 0) return [];
  const { epoch } = cutEndOf(path, epochOf(path), 0);
  return ends.filter((end) => end.epoch === epoch).sort((a, b) => a.offset - b.offset);
}

/** Faults of a file that earlier recoveries have put on record. */
export function lossesOf(file: string): TraceFormatError[] {
  return cutEndsOf(file).map(({ path, offset }) => {
    const size = sizeOf(path);
    const kept = size === 0 ? 'nothing of it is left' : `${size} bytes of it are kept in ${path}`;
    return lostEndAt(
      file,
      offset,
      `${kept}. Recovery has put what the rings held instead. Remove ${path} to accept the loss`,
    );
  });
}

/**
 * The loss of a file that was not recovered since.
 *
 * @param bytes that are left of what is lost.
 */
export function lostEnd(file: string, offset: number, bytes: number): TraceFormatError {
  const left = bytes === 0 ? 'nothing of it is left' : `${bytes} bytes of it are left`;
  return lostEndAt(file, offset, left);
}

function lostEndAt(file: string, offset: number, rest: string): TraceFormatError {
  return new TraceFormatError(
    file,
    offset,
    `the file has lost its end, which began here: events that were in it are missing, ${rest}`,
    { field: 'size', value: offset, limit: 'all that its process had written' },
  );
}
