/**
 * The layout of an ovni event (trace specification version 1, sections "Normal events" and "Jumbo
 * events"; the same in version 3). Byte 0 has flags in its high four bits and the payload's size
 * code in its low four. All integers are in the byte order of the machine that wrote them.
 */

/** Bytes 1 to 3: model, category and value, three ASCII characters. */
export const MCV_OFFSET = 1;
/** Bytes 4 to 11: nanoseconds of CLOCK_MONOTONIC, u64. */
export const CLOCK_OFFSET = 4;
/** Byte 12: the payload, if any. */
export const PAYLOAD_OFFSET = 12;
export const HEADER_BYTES = 12;
export const MAX_PAYLOAD_BYTES = 16;
/** Smallest payload: the size code has no value for 1 byte. */
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

/** Puts the header of a version 3 stream to the start of its bytes. */
export function putStreamHeader(bytes: Buffer, littleEndian: boolean): void {
  bytes.write(STREAM_MAGIC, 'latin1');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setUint32(STREAM_MAGIC.length, STREAM_VERSION, littleEndian);
}

/** The low four bits of byte 0 for a payload of `bytes` (0, or 2 to 16). */
export function payloadSizeCode(bytes: number): number {
  return bytes === 0 ? 0 : bytes - 1;
}

/** The payload bytes that byte 0 announces. */
export function payloadBytes(flags: number): number {
  const code = flags & 0x0f;
  return code === 0 ? 0 : code + 1;
}

/** The first four bytes of an event as a little-endian u32: flags and size code, then the MCV. */
export function headerOf(flags: number, mcv: string): number {
  return flags | (mcv.charCodeAt(0) << 8) | (mcv.charCodeAt(1) << 16) | (mcv.charCodeAt(2) << 24);
}

/** An MCV as a number, model << 16 | category << 8 | value. */
export function codeOf(mcv: string): number {
  return (mcv.charCodeAt(0) << 16) | (mcv.charCodeAt(1) << 8) | mcv.charCodeAt(2);
}

/** MCVs seen so far: a trace has few, and a string for each event would cost more than the rest. */
const mcvByCode = new Map<number, string>();
/** A hostile file can have 2^24 of them. */
const MAX_KEPT_MCVS = 4096;

/** The three characters of a {@link codeOf}. */
export function mcvOf(code: number): string {
  let mcv = mcvByCode.get(code);
  if (mcv === undefined) {
    mcv = String.fromCharCode(code >>> 16, (code >>> 8) & 0xff, code & 0xff);
    if (mcvByCode.size < MAX_KEPT_MCVS) mcvByCode.set(code, mcv);
  }
  return mcv;
}
