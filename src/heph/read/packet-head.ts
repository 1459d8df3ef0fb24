import {
  DEFAULT_MAX_PACKET_BYTES,
  EVENT_MAGIC,
  METADATA_MAGIC,
  MIN_EVENT_BYTES,
  OPTION_NAME_OFFSET,
  SIZE_OFFSET,
} from '../layout.js';

/** The smallest metadata packet: an empty name; the value may be empty, too. */
export const MIN_METADATA_BYTES = OPTION_NAME_OFFSET + 2;

/** The first bytes of an event, and of a metadata packet. */
export const [EVENT_BYTES, METADATA_BYTES] = [EVENT_MAGIC, METADATA_MAGIC].map((magic) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(magic);
  return bytes;
}) as [Buffer, Buffer];

export function isEventAt(view: DataView, at: number): boolean {
  return view.getUint32(at) === EVENT_MAGIC;
}

export function isPacketAt(view: DataView, at: number): boolean {
  const magic = view.getUint32(at);
  return magic === EVENT_MAGIC || magic === METADATA_MAGIC;
}

/** Bytes of the packet by its head, of which the eight bytes are there; 0: it is none, or one of more than `most`. */
export function packetBytes(
  view: DataView,
  at: number,
  most: number = DEFAULT_MAX_PACKET_BYTES,
): number {
  const magic = view.getUint32(at);
  const size = view.getUint32(at + SIZE_OFFSET);
  if (size > most) return 0;
  if (magic === EVENT_MAGIC) return size < MIN_EVENT_BYTES ? 0 : size;
  return magic === METADATA_MAGIC && size >= MIN_METADATA_BYTES ? size : 0;
}
