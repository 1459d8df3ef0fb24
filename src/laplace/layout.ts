/**
 * The reference record (section on raw reference traces): 18 bytes, packed in the order of the
 * fields. The text names no byte order; a simulator of x86 that writes its own struct is
 * little-endian.
 */
export const TYPE_OFFSET = 0;
export const TIMESTAMP_OFFSET = 1;
export const LENGTH_OFFSET = 9;
export const SPACE_OFFSET = 10;
export const ADDRESS_OFFSET = 14;
export const RECORD_BYTES = 18;

/**
 * The record as the native core packs it from columns: bytes of a record, whether big-endian, then
 * offset and bytes of each field: type, timestamp, length, space, address.
 */
export function packedLayout(little: boolean): Uint8Array {
  return Uint8Array.of(
    RECORD_BYTES,
    little ? 0 : 1,
    ...[TYPE_OFFSET, TIMESTAMP_OFFSET - TYPE_OFFSET],
    ...[TIMESTAMP_OFFSET, LENGTH_OFFSET - TIMESTAMP_OFFSET],
    ...[LENGTH_OFFSET, SPACE_OFFSET - LENGTH_OFFSET],
    ...[SPACE_OFFSET, ADDRESS_OFFSET - SPACE_OFFSET],
    ...[ADDRESS_OFFSET, RECORD_BYTES - ADDRESS_OFFSET],
  );
}

/** Types of references. The text's one example is `r`; the other letters are this reading of it. */
export const LOAD = 'r';
export const STORE = 'w';
export const FETCH = 'i';

/** A type is one printable character that is no space, so that it can be said in a line. */
export const FIRST_TYPE = 0x21;
export const LAST_TYPE = 0x7e;

/** Most hexadecimal digits of each field in a line. */
export const TIMESTAMP_DIGITS = 16;
export const LENGTH_DIGITS = 2;
export const SPACE_DIGITS = 8;
export const ADDRESS_DIGITS = 8;

/** A line: type, four numbers, a space in front of each of them, a newline. */
export const LONGEST_REFERENCE_LINE =
  1 + 1 + TIMESTAMP_DIGITS + 1 + LENGTH_DIGITS + 1 + SPACE_DIGITS + 1 + ADDRESS_DIGITS + 1;
export const SHORTEST_REFERENCE_LINE = 'r 0 0 0 0\n'.length;

export const SPACE = 0x20;
export const NEWLINE = 0x0a;

/** The byte order of binary records. */
export type Endian = 'little' | 'big';

/** The two forms of a reference trace. */
export type ReferenceForm = 'binary' | 'text';
