import { MIN_EVENT_BYTES, PACKET_HEAD_BYTES } from '../layout.js';
import { EVENT_BYTES, isPacketAt, packetBytes } from './packet-head.js';

const WINDOW_BYTES = 256 << 10;
/** Magic numbers that begin no event, before the search ends. A hostile file can have one in every eight bytes. */
const MOST_CANDIDATES = 1 << 18;
const MAGIC_BYTES = 4;

/** The file in which an event is looked for. */
interface SearchedFile {
  /** Reads into a buffer from an offset on; returns the count of bytes read. */
  readAt(into: Buffer, offset: number): number;
  /** Where the file has bytes again, from an offset on; -1: only a hole follows. */
  nextData(offset: number): number;
}

/**
 * Finds the next event after damaged bytes: the first one from `from` on that another packet follows, or that ends at
 * `end`. It reads the bytes once, and no holes.
 *
 * @returns its offset; undefined if there is none, or if too many only look like one.
 */
export function nextEvent(file: SearchedFile, from: number, end: number): number | undefined {
  const window = Buffer.allocUnsafe(Math.min(WINDOW_BYTES, Math.max(end - from, 0)));
  const head = Buffer.allocUnsafe(PACKET_HEAD_BYTES);
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  let candidates = 0;
  for (let offset = from; end - offset >= MIN_EVENT_BYTES;) {
    const data = file.nextData(offset);
    if (data === -1 || end - data < MIN_EVENT_BYTES) return undefined;
    offset = data;
    const filled = file.readAt(window.subarray(0, Math.min(window.length, end - offset)), offset);
    const bytes = window.subarray(0, filled);
    for (let i = bytes.indexOf(EVENT_BYTES); i !== -1; i = bytes.indexOf(EVENT_BYTES, i + 1)) {
      if (isFollowed(file, head, view, offset + i, end)) return offset + i;
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
  file: SearchedFile,
  head: Buffer,
  view: DataView,
  offset: number,
  end: number,
): boolean {
  if (file.readAt(head, offset) < PACKET_HEAD_BYTES) return false;
  const size = packetBytes(view, 0);
  const next = offset + size;
  if (size === 0 || next > end) return false;
  if (next === end) return true;
  return file.readAt(head, next) >= MAGIC_BYTES && isPacketAt(view, 0);
}
