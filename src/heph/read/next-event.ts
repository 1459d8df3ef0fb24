import { MIN_EVENT_BYTES, PACKET_HEAD_BYTES } from '../layout.js';
import { EVENT_BYTES, isPacketAt, packetBytes } from './packet-head.js';

const WINDOW_BYTES = 256 << 10;
/** Magic numbers that begin no event, before the search ends. A hostile file can have one in every eight bytes. */
const MOST_CANDIDATES = 1 << 18;
const MAGIC_BYTES = 4;

/** Reads into a buffer from an offset of the file on; returns the count of bytes read. */
export type ReadAt = (into: Buffer, offset: number) => number;

/**
 * Finds the next event after damaged bytes: the first one from `from` on that another packet follows, or that ends at
 * `end`. It reads the bytes once.
 *
 * @returns its offset; undefined if there is none, or if too many only look like one.
 */
export function nextEvent(read: ReadAt, from: number, end: number): number | undefined {
  const window = Buffer.allocUnsafe(Math.min(WINDOW_BYTES, Math.max(end - from, 0)));
  const head = Buffer.allocUnsafe(PACKET_HEAD_BYTES);
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  let candidates = 0;
  for (let offset = from; end - offset >= MIN_EVENT_BYTES;) {
    const filled = read(window.subarray(0, Math.min(window.length, end - offset)), offset);
    const bytes = window.subarray(0, filled);
    for (let i = bytes.indexOf(EVENT_BYTES); i !== -1; i = bytes.indexOf(EVENT_BYTES, i + 1)) {
      if (isFollowed(read, head, view, offset + i, end)) return offset + i;
      if (++candidates === MOST_CANDIDATES) return undefined;
    }
    if (filled < MAGIC_BYTES) return undefined;
    // The last bytes can be the beginning of a magic number.
    offset += filled - MAGIC_BYTES + 1;
  }
  return undefined;
}

/** Whether the event at `offset` is whole, and a packet or the end of the file follows it. */
function isFollowed(
  read: ReadAt,
  head: Buffer,
  view: DataView,
  offset: number,
  end: number,
): boolean {
  if (read(head, offset) < PACKET_HEAD_BYTES) return false;
  const size = packetBytes(view, 0);
  const next = offset + size;
  if (size === 0 || next > end) return false;
  if (next === end) return true;
  return read(head, next) >= MAGIC_BYTES && isPacketAt(view, 0);
}
