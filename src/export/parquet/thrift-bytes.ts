/** Types of Thrift's compact protocol. */
const TRUE = 1;
const FALSE = 2;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/** A value of a Thrift field: integers are not negative. A struct is its fields by number, in ascending order. */
export type ThriftValue =
  | { i32: number }
  | { i64: number }
  | { binary: string | Uint8Array }
  | { bool: boolean }
  | { list: readonly ThriftValue[] }
  | { struct: ThriftStruct };
export type ThriftStruct = readonly (readonly [field: number, value: ThriftValue])[];

/** Encodes a struct in Thrift's compact protocol, which Parquet's headers and footer are in. */
export function thriftBytes(struct: ThriftStruct): Buffer {
  const bytes: number[] = [];
  write(bytes, { struct });
  return Buffer.from(bytes);
}

function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
}

function typeOf(value: ThriftValue): number {
  if ('bool' in value) return value.bool ? TRUE : FALSE;
  if ('i32' in value) return I32;
  if ('i64' in value) return I64;
  if ('binary' in value) return BINARY;
  return 'struct' in value ? STRUCT : LIST;
}

function write(bytes: number[], value: ThriftValue): void {
  if ('i32' in value) writeVarint(bytes, 2 * value.i32);
  else if ('i64' in value) writeVarint(bytes, 2 * value.i64);
  else if ('binary' in value) {
    const binary = Buffer.from(value.binary);
    writeVarint(bytes, binary.length);
    for (const byte of binary) bytes.push(byte);
  } else if ('struct' in value) {
    let last = 0;
    for (const [field, own] of value.struct) {
      bytes.push(((field - last) << 4) | typeOf(own));
      last = field;
      write(bytes, own);
    }
    bytes.push(0);
  } else if ('list' in value) {
    const { list } = value;
    const type = list[0] === undefined ? STRUCT : typeOf(list[0]);
    if (list.length < 15) bytes.push((list.length << 4) | type);
    else {
      bytes.push(0xf0 | type);
      writeVarint(bytes, list.length);
    }
    for (const element of list) write(bytes, element);
  }
}
