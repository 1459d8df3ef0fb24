import { ProtobufBytes } from '../protobuf-bytes.js';
import type { ThriftStruct } from './thrift-bytes.js';

/** Numbers of Parquet's format definition. */
const BOOLEAN = 0;
const INT32 = 1;
const INT64 = 2;
const BYTE_ARRAY = 6;
const CONVERTED_UTF8 = 0;
const CONVERTED_JSON = 19;
export const PLAIN = 0;
export const RLE = 3;
export const RLE_DICTIONARY = 8;

const STRING_TYPE: ThriftStruct = [[1, { struct: [] }]];
const JSON_TYPE: ThriftStruct = [[12, { struct: [] }]];
/** Nanoseconds of UTC. */
const TIMESTAMP_TYPE: ThriftStruct = [
  [
    8,
    {
      struct: [
        [1, { bool: true }],
        [2, { struct: [[3, { struct: [] }]] }],
      ],
    },
  ],
];

/** The values of a column in one row group, encoded. */
export interface ColumnPages {
  values: number;
  /** The values of a dictionary, and how many there are. */
  dictionary: { bytes: Buffer; values: number } | undefined;
  data: Buffer;
  encoding: number;
  /** Least and greatest value as Parquet's statistics have them. */
  range: { least: Buffer; greatest: Buffer } | undefined;
}

/** A column that takes one value a row. `undefined` is for optional columns alone. */
export abstract class Column<T> {
  readonly name: string;
  readonly isOptional: boolean;
  abstract readonly type: number;
  protected readonly bytes = new ProtobufBytes(1 << 12);
  readonly #present: number[] = [];
  protected values = 0;
  #rows = 0;

  constructor(name: string, isOptional = false) {
    this.name = name;
    this.isOptional = isOptional;
  }

  /** Bytes of the row group so far. */
  get size(): number {
    return this.bytes.length;
  }

  add(value: T | undefined): void {
    this.addRow(value !== undefined);
    if (value !== undefined) this.put(value);
  }

  protected addRow(isPresent: boolean): void {
    this.#rows++;
    if (this.isOptional) this.#present.push(isPresent ? 1 : 0);
    if (isPresent) this.values++;
  }

  /** The pages of the row group; begins another one. */
  take(): ColumnPages {
    const { data, ...rest } = this.encoded();
    const levels = this.isOptional ? levelsOf(this.#present) : NO_LEVELS;
    const all = levels.length === 0 ? data : Buffer.concat([levels, data]);
    const pages = { ...rest, values: this.#rows, data: all };
    this.#present.length = 0;
    this.#rows = 0;
    this.values = 0;
    return pages;
  }

  /** The fields of the schema that say what the values mean. */
  meaning(): ThriftStruct {
    return [];
  }

  protected encoded(): Omit<ColumnPages, 'values'> {
    return { dictionary: undefined, data: this.bytes.take(), encoding: PLAIN, range: undefined };
  }

  protected abstract put(value: T): void;
}

const NO_LEVELS = Buffer.alloc(0);

/** Values of `width` bits each in one bit-packed run. */
function bitPacked(values: ArrayLike<number>, width: number): Buffer {
  const groups = Math.ceil(values.length / 8);
  const bytes = new ProtobufBytes(16 + groups * width);
  bytes.varint(groups * 2 + 1);
  const { length: from } = bytes;
  bytes.reserve(groups * width);
  bytes.bytes.fill(0, from, from + groups * width);
  bytes.length = from + groups * width;
  const packed = bytes.bytes;
  let bit = from * 8;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    for (let done = 0; done < width;) {
      const inByte = bit & 7;
      const count = Math.min(8 - inByte, width - done);
      packed[bit >>> 3]! |= ((value >>> done) & ((1 << count) - 1)) << inByte;
      done += count;
      bit += count;
    }
  }
  return bytes.take();
}

/** Which rows have a value. */
function levelsOf(present: readonly number[]): Buffer {
  const packed = bitPacked(present, 1);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(packed.length);
  return Buffer.concat([length, packed]);
}

/** Texts, or JSON, one after another. */
export class TextColumn extends Column<string> {
  readonly type = BYTE_ARRAY;
  readonly #isJson: boolean;

  constructor(name: string, isOptional = false, isJson = false) {
    super(name, isOptional);
    this.#isJson = isJson;
  }

  override meaning(): ThriftStruct {
    return [
      [6, { i32: this.#isJson ? CONVERTED_JSON : CONVERTED_UTF8 }],
      [10, { struct: this.#isJson ? JSON_TYPE : STRING_TYPE }],
    ];
  }

  /** Adds a text that is large as a whole. */
  addPieces(pieces: Iterable<string>): void {
    this.addRow(true);
    this.bytes.lengthAndPieces(pieces);
  }

  protected put(value: string): void {
    this.bytes.lengthAndText(value);
  }
}

/** Texts of which many are equal: each is in the row group once. */
export class DictionaryColumn extends TextColumn {
  readonly #numbers = new Map<string, number>();
  readonly #rows: number[] = [];

  protected override put(value: string): void {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(value, number);
      this.bytes.lengthAndText(value);
    }
    this.#rows.push(number);
  }

  protected override encoded(): Omit<ColumnPages, 'values'> {
    const count = this.#numbers.size;
    const width = Math.max(1, 32 - Math.clz32(count - 1));
    const rows = bitPacked(this.#rows, width);
    this.#numbers.clear();
    this.#rows.length = 0;
    return {
      dictionary: { bytes: this.bytes.take(), values: count },
      data: Buffer.concat([Buffer.of(width), rows]),
      encoding: RLE_DICTIONARY,
      range: undefined,
    };
  }
}

/** Integers of 32 bits. */
export class Int32Column extends Column<number> {
  readonly type = INT32;

  protected put(value: number): void {
    const { bytes } = this;
    bytes.reserve(4);
    bytes.view.setInt32(bytes.length, value, true);
    bytes.length += 4;
  }
}

const MAX_INT64 = 0x7fff_ffff_ffff_ffffn;

/** Integers of 64 bits, or times in nanoseconds since 1970. What is larger is the greatest of them. */
export class Int64Column extends Column<bigint> {
  readonly type = INT64;
  readonly #isTime: boolean;
  #least = MAX_INT64;
  #greatest = -MAX_INT64;

  constructor(name: string, isTime: boolean) {
    super(name);
    this.#isTime = isTime;
  }

  override meaning(): ThriftStruct {
    return this.#isTime ? [[10, { struct: TIMESTAMP_TYPE }]] : [];
  }

  protected put(given: bigint): void {
    const value = given > MAX_INT64 ? MAX_INT64 : given < -MAX_INT64 ? -MAX_INT64 : given;
    const { bytes } = this;
    bytes.reserve(8);
    bytes.view.setBigInt64(bytes.length, value, true);
    bytes.length += 8;
    if (value < this.#least) this.#least = value;
    if (value > this.#greatest) this.#greatest = value;
  }

  protected override encoded(): Omit<ColumnPages, 'values'> {
    const range = { least: int64Bytes(this.#least), greatest: int64Bytes(this.#greatest) };
    this.#least = MAX_INT64;
    this.#greatest = -MAX_INT64;
    return { ...super.encoded(), range };
  }
}

function int64Bytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

/** Booleans, a bit each. */
export class BooleanColumn extends Column<boolean> {
  readonly type = BOOLEAN;
  #byte = 0;

  protected put(value: boolean): void {
    const bit = (this.values - 1) & 7;
    if (value) this.#byte |= 1 << bit;
    if (bit === 7) this.#flush();
  }

  protected override encoded(): Omit<ColumnPages, 'values'> {
    if ((this.values & 7) !== 0) this.#flush();
    return super.encoded();
  }

  #flush(): void {
    const { bytes } = this;
    bytes.reserve(1);
    bytes.bytes[bytes.length++] = this.#byte;
    this.#byte = 0;
  }
}
