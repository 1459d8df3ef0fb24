/**
 * The layout of Heph packets, with all its offsets (trace format 0.1.0, sections
 * "Metadata Packet" and "Event Packet"). Everything is big-endian.
 */

export const METADATA_MAGIC = 0x75d1_1d4d;
export const EVENT_MAGIC = 0xc1fc_1fb7;

/** Both packets: u32 magic, then u32 size of the whole packet in bytes. */
export const MAGIC_OFFSET = 0;
export const SIZE_OFFSET = 4;
export const PACKET_HEAD_BYTES = 8;

/** Metadata: u16 name length, name, value. */
export const OPTION_NAME_OFFSET = 8;
export const EPOCH_OPTION = 'epoch';
/** Bytes of a whole epoch packet: 8 + 2 + "epoch" + u64 nanoseconds since the Unix epoch. */
export const EPOCH_PACKET_BYTES = 23;

/**
 * The stream of events that describe the trace. They are repeated where a piece or a connection
 * begins, so their counter is no position in a sequence.
 */
export const DEFINITION_STREAM = 0xffff_ffff;

/** Event: u32 stream, u32 counter, u64 substream, u64 start, u64 end, u16 length + description. */
export const STREAM_OFFSET = 8;
export const COUNTER_OFFSET = 12;
export const SUBSTREAM_OFFSET = 16;
export const START_OFFSET = 24;
export const END_OFFSET = 32;
export const DESCRIPTION_OFFSET = 40;
/** The smallest event: an empty description and no attributes. */
export const MIN_EVENT_BYTES = 42;

/** Bytes of the length of a text and of the count of an array, and of a value that is no text. */
export const LENGTH_BYTES = 2;
export const WORD_BYTES = 8;
/** Attributes: u16 length + name, u8 type, value. */
export const TYPE_U64 = 0x01;
export const TYPE_I64 = 0x02;
export const TYPE_F64 = 0x03;
export const TYPE_STRING = 0x04;
/** Or-ed with a type: u16 count, then that many values. */
export const TYPE_ARRAY = 0x80;

/** Longest name, description or string value in bytes of UTF-8, and longest array: lengths are u16. */
export const MAX_U16 = 0xffff;

/**
 * The largest packet that readers accept without an option: 64 MiB. The format allows 4 GiB; a packet takes up to
 * fifteen times its size in memory once it is decoded.
 */
export const DEFAULT_MAX_PACKET_BYTES = 64 << 20;
/** Most attributes of an event that readers accept: empty ones take a dozen times their size in memory and text. */
export const MAX_ATTRIBUTES = 1 << 20;

/** Where the name of an event lies that begins at `at`: u16 length, then the text. */
export function nameAt(at: number): number {
  return at + DESCRIPTION_OFFSET;
}

/** Where the text of its name begins. */
export function descriptionAt(at: number): number {
  return at + DESCRIPTION_OFFSET + LENGTH_BYTES;
}

/** Where its attributes begin. They can lie after its end: nothing has been checked. */
export function attributesAt(view: DataView, at: number): number {
  return descriptionAt(at) + view.getUint16(nameAt(at));
}

/** Whether an event that ends at `end` has this description. */
export function isDescribed(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  description: Buffer,
): boolean {
  const from = descriptionAt(at);
  const to = attributesAt(view, at);
  return (
    to - from === description.length && to <= end && description.compare(bytes, from, to) === 0
  );
}
