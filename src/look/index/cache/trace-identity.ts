import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegularFile } from '../../../core/files/regular-file.js';

const HASHED_BYTES = 64 << 10;

/** Which file was indexed, and how far. */
export interface TraceIdentity {
  inode: string;
  born: string;
  /** Of the whole file, when it was indexed. */
  size: number;
  modified: string;
  /** Bytes that were indexed. */
  end: number;
  /** SHA-256 of the first bytes, and of the last ones before `end`. */
  headHash: string;
  endHash: string;
}

/** How a file compares with the one that was indexed. */
type Comparison = 'same' | 'grown' | 'other';

export function identityOf(path: string, end: number): TraceIdentity {
  const { fd } = openRegularFile(path, 'followed');
  try {
    const stats = fstatSync(fd, { bigint: true });
    return {
      inode: String(stats.ino),
      born: String(stats.birthtimeNs),
      size: Number(stats.size),
      modified: String(stats.mtimeNs),
      end,
      headHash: hashOf(fd, 0, Math.min(HASHED_BYTES, end)),
      endHash: hashOf(fd, Math.max(0, end - HASHED_BYTES), end),
    };
  } finally {
    closeSync(fd);
  }
}

/** Whether the file at a path is the one that was indexed, or has grown since. */
export function compare(path: string, indexed: TraceIdentity): Comparison {
  const now = identityOf(path, indexed.end);
  if (
    now.inode !== indexed.inode ||
    now.born !== indexed.born ||
    now.size < indexed.size ||
    now.headHash !== indexed.headHash ||
    now.endHash !== indexed.endHash
  ) {
    return 'other';
  }
  // What was not final then may be now.
  if (now.size > indexed.size || now.size > indexed.end) return 'grown';
  // As large as before, and written to: nobody knows where.
  return now.modified === indexed.modified ? 'same' : 'other';
}

function hashOf(fd: number, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  let filled = 0;
  while (filled < bytes.length) {
    const read = readSync(fd, bytes, filled, bytes.length - filled, from + filled);
    if (read === 0) break;
    filled += read;
  }
  return createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
}
