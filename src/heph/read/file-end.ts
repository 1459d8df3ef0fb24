import { readSync } from 'node:fs';
import { DEFAULT_MAX_PACKET_BYTES, PACKET_HEAD_BYTES, SIZE_OFFSET } from '../layout.js';
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
