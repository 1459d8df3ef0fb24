import { MIN_EVENT_BYTES, SIZE_OFFSET } from '../layout.js';
import { PacketDecoding } from './packet-decoding.js';
import { EVENT_BYTES } from './packet-head.js';

/** Values of events from here on are decoded one by one: all of them take many times the memory. */
export const LARGE_BYTES = 1 << 20;

/** One event in memory, of which no more is known than where it begins and ends. */
export interface EventBytes {
  /** The bytes in memory; the event begins at `position`. */
  readonly bytes: Buffer;
  /** The same bytes. */
  readonly view: DataView;
  readonly position: number;
  /** Bytes of the event. */
  readonly size: number;
  /** Bytes of the file before the event. */
  readonly offset: number;
  /**
   * Decodes it.
   *
   * @throws TraceFormatError when its content is wrong.
   */
  packet(): unknown;
}

/** Bytes of an event by its size field; undefined if no event begins there. */
export function eventBytes(bytes: Buffer, at: number): number | undefined {
  if (EVENT_BYTES.compare(bytes, at, at + EVENT_BYTES.length) !== 0) return undefined;
  const size = bytes.readUInt32BE(at + SIZE_OFFSET);
  return size < MIN_EVENT_BYTES ? undefined : size;
}

/** Whether bytes are one whole event. */
export function isEvent(bytes: Buffer): boolean {
  const decoding = new PacketDecoding('event', 0xffff_ffff);
  decoding.setBytes(bytes, 0);
  try {
    const packet = decoding.decode(0, decoding.size(0, bytes.length));
    return packet.kind === 'event' && packet.size === bytes.length;
  } catch {
    return false;
  }
}
