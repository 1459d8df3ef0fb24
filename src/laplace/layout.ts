/**
 * The reference record (section on raw reference traces): 18 bytes, packed in the order of the
 * fields. The specification names no byte order. A simulator of x86 that writes its own struct is
 * little-endian.
 */
export const TYPE_OFFSET = 0;
export const TIMESTAMP_OFFSET = 1;
export const LENGTH_OFFSET = 9;
export const SPACE_OFFSET = 10;
export const ADDRESS_OFFSET = 14;
export const RECORD_BYTES = 18;

/**
 * The record's layout for the native core, which packs columns: bytes of a record, 1 if big-endian,
 * then offset and bytes of each field: type, timestamp, length, space, address.
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

/** Types of references. The specification shows only `r`; the other letters are our interpretation. */
export const LOAD = 'r';
export const STORE = 'w';
export const FETCH = 'i';

/** A type is one printable character other than a space, so that it fits into a line. */
export const FIRST_TYPE = 0x21;
export const LAST_TYPE = 0x7e;

/** Most hexadecimal digits of each field in a line. */
export const TIMESTAMP_DIGITS = 16;
export const LENGTH_DIGITS = 2;
export const SPACE_DIGITS = 8;
export const ADDRESS_DIGITS = 8;

/** A line: the type, four numbers with a space before each, a newline. */
export const LONGEST_REFERENCE_LINE =
  1 + 1 + TIMESTAMP_DIGITS + 1 + LENGTH_DIGITS + 1 + SPACE_DIGITS + 1 + ADDRESS_DIGITS + 1;
export const SHORTEST_REFERENCE_LINE = 'r 0 0 0 0\n'.length;

export const SPACE = 0x20;
export const NEWLINE = 0x0a;

/** The byte order of binary records. */
export type Endian = 'little' | 'big';

/** The two forms of a reference trace. */
export type ReferenceForm = 'binary' | 'text';
