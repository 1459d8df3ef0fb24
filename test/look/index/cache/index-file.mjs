// A file of a stored index, taken apart and put together with something else in it: for tests and the fuzzer. The layout
// is that of src/look/index/cache/column-file.ts.

import { crc32 } from 'node:zlib';

const HEAD_BYTES = 32;
/** Where the length of the header lies in the head, and its checksum. */
const LENGTH_AT = 12;
const CHECKSUM_AT = 16;
const ALIGNMENT = 8;
const WIDTHS = { f64: 8, u32: 4, i32: 4, u16: 2, u8: 1 };

export function splitIndexFile(file) {
  const end = HEAD_BYTES + file.readUInt32LE(LENGTH_AT);
  return { header: file.subarray(HEAD_BYTES, end), columns: file.subarray(end) };
}

export function joinIndexFile(original, text, columns) {
  const header = Buffer.alloc(Math.ceil(text.length / ALIGNMENT) * ALIGNMENT, ' ');
  text.copy(header);
  const head = Buffer.from(original.subarray(0, HEAD_BYTES));
  head.writeUInt32LE(header.length, LENGTH_AT);
  head.writeUInt32LE(crc32(header), CHECKSUM_AT);
  return Buffer.concat([head, header, columns]);
}

export function columnAt({ offset, length, type }, columns) {
  return columns.subarray(offset, offset + length * (WIDTHS[type] ?? 1));
}

export function putChecksums(header, columns) {
  for (const place of Object.values(header.columns ?? {})) {
    // What is no place has no bytes.
    if (typeof place?.offset === 'number') place.crc = crc32(columnAt(place, columns));
  }
}
