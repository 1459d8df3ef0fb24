import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import { headOfFile } from '../../core/files/regular-file.js';
import { hasCode } from '../../core/files/system-error.js';
import { writeAll } from '../../core/files/write-all.js';
import { cutEndAt, cutEndOf } from '../file-names.js';
import type { CutEnd } from '../file-names.js';
import {
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  MAGIC_OFFSET,
  METADATA_MAGIC,
  OPTION_NAME_OFFSET,
} from '../layout.js';

const COPY_BYTES = 1 << 20;
const { O_CREAT, O_NOFOLLOW, O_RDWR, O_WRONLY } = constants;

/** The value of the epoch packet with which a file begins; 0: it has none. */
function epochOf(file: string): bigint {
  const head = headOfFile(file, EPOCH_PACKET_BYTES);
  const isWhole = head.length === EPOCH_PACKET_BYTES;
  if (!isWhole || head.readUInt32BE(MAGIC_OFFSET) !== METADATA_MAGIC) return 0n;
  return head.readBigUInt64BE(OPTION_NAME_OFFSET + 2 + EPOCH_OPTION.length);
}

/**
 * Cuts off what follows the last whole packet of a file that has lost its end, and keeps it next to the file.
 * What is kept says to later readers that the file is not whole, even if it has no bytes.
 */
export function cutEnd(file: string, offset: number): void {
  const fd = openSync(file, O_RDWR | O_NOFOLLOW);
  try {
    const { path } = cutEndOf(file, epochOf(file), offset);
    const kept = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, fstatSync(fd).mode & 0o777);
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
    ftruncateSync(fd, offset);
  } finally {
    closeSync(fd);
  }
}

function cutEndsOf(file: string): CutEnd[] {
  let names: string[];
  try {
    names = readdirSync(dirname(file)).filter((name) => name.endsWith('.cut'));
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

/** What earlier recoveries have found missing in a file. */
export function lossesOf(file: string): TraceFormatError[] {
  return cutEndsOf(file).map(({ path, offset }) => {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const kept = size === 0 ? 'nothing of it is left' : `${size} bytes of it are kept in ${path}`;
    return new TraceFormatError(
      file,
      offset,
      `the file has lost its end, which began here: events that were in it are missing, ${kept}. ` +
        `Recovery has put what the rings held in its place. Remove ${path} to accept the loss`,
      { field: 'size', value: offset, limit: 'all that its process had written' },
    );
  });
}
