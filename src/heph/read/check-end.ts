import { closeSync, readSync } from 'node:fs';
import { TraceFormatError } from '../../core/errors.js';
import { openRegularFile } from '../../core/files/regular-file.js';
import { endOfRecords } from '../../core/living/ring-copy.js';
import { PACKET_HEAD_BYTES } from '../layout.js';
import { eventBytes } from './event-bytes.js';
import { PacketCursor } from './packet-cursor.js';
import { EVENT_BYTES } from './packet-head.js';

const TAIL_BYTES = 1 << 16;

/**
 * Ensures that a file which no ring completes ends where a packet ends. What lies before its last packets is only
 * read if these do not show it.
 *
 * @throws TraceFormatError when it has lost its end, or is damaged.
 */
export function checkEndOfFile(path: string): void {
  const { fd, size } = openRegularFile(path, 'followed');
  try {
    if (endsWithPackets(fd, size)) return;
  } finally {
    closeSync(fd);
  }
  const cursor = new PacketCursor(path);
  try {
    while (cursor.next());
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    const message = `the file has lost its end, or is damaged: ${error.fault}`;
    throw new TraceFormatError(path, error.offset, message, { field: 'size' });
  } finally {
    cursor.close();
  }
}

/** Whether packets that follow each other end with the file. */
function endsWithPackets(fd: number, size: number): boolean {
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  for (let at = 0; (at = tail.indexOf(EVENT_BYTES, at)) !== -1; at += EVENT_BYTES.length) {
    at += endOfRecords(tail.subarray(at), PACKET_HEAD_BYTES, eventBytes);
    if (at === tail.length) return true;
  }
  return false;
}
