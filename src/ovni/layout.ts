/**
 * The layout of an ovni event, the one place where its offsets stand (trace specification version
 * 1, sections "Normal events" and "Jumbo events"; the same in version 3). All integers are in the
 * byte order of the machine that wrote them.
 */

/** Byte 0: flags in the high four bits, payload size code in the low four. */
export const FLAGS_OFFSET = 0;
/** Bytes 1 to 3: model, category and value, three ASCII characters. */
export const MCV_OFFSET = 1;
/** Bytes 4 to 11: nanoseconds of CLOCK_MONOTONIC, u64. */
export const CLOCK_OFFSET = 4;
/** Byte 12: the payload, where there is one. */
export const PAYLOAD_OFFSET = 12;
export const HEADER_BYTES = 12;
export const MAX_PAYLOAD_BYTES = 16;
/** Smallest payload that can be said; the size code has no way to say 1. */
export const MIN_PAYLOAD_BYTES = 2;

export const JUMBO_FLAG = 0x10;
/** A jumbo event's payload is the u32 count of the data bytes that follow it. */
export const JUMBO_LENGTH_BYTES = 4;
export const JUMBO_DATA_OFFSET = PAYLOAD_OFFSET + JUMBO_LENGTH_BYTES;
/** Largest jumbo data that can be written: the length field is a u32. */
export const MAX_JUMBO_BYTES = 0xffff_ffff;

/** Longest title of a mark, label of a value or of a task type that the emulator takes, UTF-8. */
export const MAX_LABEL_BYTES = 511;

/** First eight bytes of a version 3 `stream.obs`: "ovni", then u32 1. Version 1 has no header. */
export const STREAM_MAGIC = 'ovni';
export const STREAM_VERSION = 1;
export const STREAM_HEADER_BYTES = 8;

/** The low four bits of byte 0 for a payload of `bytes` (0, or 2 to 16). */
export function payloadSizeCode(bytes: number): number {
  return bytes === 0 ? 0 : bytes - 1;
}

/** The payload bytes that byte 0 announces. */
export function payloadBytes(flags: number): number {
  const code = flags & 0x0f;
  return code === 0 ? 0 : code + 1;
}
