/** Types of Thrift's compact protocol. */
const TRUE = 1;
const FALSE = 2;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/** A value of a Thrift field. A struct is its fields by number, in ascending order. */
type ThriftValue =
  | { i32: number }
  | { i64: bigint }
  | { binary: string | Uint8Array }
  | { bool: boolean }
  | { structs: readonly ThriftStruct[] }
  | { i32s: readonly number[] }
  | { texts: readonly string[] }
  | { struct: ThriftStruct };
export type ThriftStruct = readonly (readonly [field: number, value: ThriftValue])[];

/** Encodes a struct in Thrift's compact protocol, which Parquet's headers and footer are in. */
export function thriftBytes(struct: ThriftStruct): Buffer {
  const bytes: number[] = [];
  writeStruct(bytes, struct);
  return Buffer.from(bytes);
}

function writeVarint(bytes: number[], value: bigint): void {
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
}

function writeInteger(bytes: number[], value: bigint): void {
  writeVarint(bytes, value < 0n ? -2n * value - 1n : 2n * value);
}

function writeBinary(bytes: number[], value: string | Uint8Array): void {
  const binary = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  writeVarint(bytes, BigInt(binary.length));
  for (const byte of binary) bytes.push(byte);
}

function writeList<T>(
  bytes: number[],
  type: number,
  elements: readonly T[],
  write: (element: T) => void,
): void {
  if (elements.length < 15) bytes.push((elements.length << 4) | type);
  else {
    bytes.push(0xf0 | type);
    writeVarint(bytes, BigInt(elements.length));
  }
  for (const element of elements) write(element);
}

function typeOf(value: ThriftValue): number {
  if ('bool' in value) return value.bool ? TRUE : FALSE;
  if ('i32' in value) return I32;
  if ('i64' in value) return I64;
  if ('binary' in value) return BINARY;
  return 'struct' in value ? STRUCT : LIST;
}

function writeStruct(bytes: number[], struct: ThriftStruct): void {
  let last = 0;
  for (const [field, value] of struct) {
    bytes.push(((field - last) << 4) | typeOf(value));
    last = field;
    if ('i32' in value) writeInteger(bytes, BigInt(value.i32));
    else if ('i64' in value) writeInteger(bytes, value.i64);
    else if ('binary' in value) writeBinary(bytes, value.binary);
    else if ('struct' in value) writeStruct(bytes, value.struct);
    else if ('structs' in value) {
      writeList(bytes, STRUCT, value.structs, (element) => {
        writeStruct(bytes, element);
      });
    } else if ('i32s' in value) {
      writeList(bytes, I32, value.i32s, (element) => {
        writeInteger(bytes, BigInt(element));
      });
    } else if ('texts' in value) {
      writeList(bytes, BINARY, value.texts, (element) => {
        writeBinary(bytes, element);
      });
    }
  }
  bytes.push(0);
}
