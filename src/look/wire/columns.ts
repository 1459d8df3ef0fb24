/**
 * How the server sends columns of numbers to the page: one frame with a JSON head, then the arrays.
 *
 *   u32 LE  0x31435754 ("TWC1")
 *   u32 LE  bytes of the head
 *   head    JSON in UTF-8: { meta, columns: [{ name, type, length }] }, spaces up to a multiple of 8
 *   arrays  in the order of `columns`, little-endian, each from a multiple of 8
 */

const COLUMNS_MAGIC = 0x3143_5754;

/** The types of columns, by their names in a frame or file. */
export const TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

export type TypeName = keyof typeof TYPES;
type Integers = Uint8Array | Uint16Array | Uint32Array | Int32Array;
export type Column = Integers | Float32Array | Float64Array;

interface Head {
  meta: unknown;
  columns: { name: string; type: TypeName; length: number }[];
}

export const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export function typeOf(column: Column): TypeName {
  for (const [name, type] of Object.entries(TYPES)) {
    if (column instanceof type) return name as TypeName;
  }
  throw new TypeError('a column is one of the typed arrays of numbers');
}

/** @returns a frame. Its bytes are those of this machine, which is little-endian wherever Node runs. */
export function encodeColumns(
  columns: Readonly<Record<string, Column>>,
  meta: unknown,
): Uint8Array {
  const entries = Object.entries(columns);
  const head: Head = {
    meta,
    columns: entries.map(([name, column]) => ({
      name,
      type: typeOf(column),
      length: column.length,
    })),
  };
  const text = new TextEncoder().encode(JSON.stringify(head));
  const headBytes = aligned(8 + text.length) - 8;
  const total = entries.reduce(
    (sum, [, column]) => sum + aligned(column.byteLength),
    8 + headBytes,
  );
  const frame = new Uint8Array(total);
  const view = new DataView(frame.buffer);
  view.setUint32(0, COLUMNS_MAGIC, true);
  view.setUint32(4, headBytes, true);
  frame.fill(0x20, 8, 8 + headBytes);
  frame.set(text, 8);
  let at = 8 + headBytes;
  for (const [, column] of entries) {
    frame.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += aligned(column.byteLength);
  }
  return frame;
}

/**
 * @returns the arrays, which lie in `buffer`, by name.
 * @throws RangeError if it is no frame.
 */
export function decodeColumns(buffer: ArrayBuffer): {
  meta: unknown;
  columns: Record<string, Column>;
} {
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== COLUMNS_MAGIC) throw new RangeError('no frame of columns');
  const headBytes = view.getUint32(4, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 8, headBytes));
  const { meta, columns } = JSON.parse(text) as Head;
  let at = 8 + headBytes;
  const arrays: Record<string, Column> = {};
  for (const { name, type, length } of columns) {
    const array = new TYPES[type](buffer, at, length);
    arrays[name] = array;
    at += aligned(array.byteLength);
  }
  return { meta, columns: arrays };
}
