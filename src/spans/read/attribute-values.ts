import { TYPE_ARRAY, TYPE_F64, TYPE_I64, TYPE_STRING, TYPE_U64 } from '../../heph/layout.js';
import { TextDecoding } from '../../heph/read/text-decoding.js';
import {
  CONTINUED,
  IS_ARRAY,
  IS_BIGINT,
  IS_BOOLEAN,
  IS_BYTES,
  IS_NULL,
  RESERVED,
} from '../layout.js';
import type { RecordedAttributes, RecordedValue } from '../span-record.js';

const MAX_DEPTH = 8;
/** The head of a reserved attribute, whose name has two bytes: its first three bytes. */
const RESERVED_HEAD = (2 << 16) | (RESERVED.charCodeAt(0) << 8);
const TILDE = RESERVED.charCodeAt(0);
/** An attribute of an empty name and eight bytes. */
const LEAST_ELEMENT_BYTES = 5;

const codeOf = (name: string): number => name.charCodeAt(1);
const [BOOLEAN, NULL, BIGINT, BYTES, ARRAY, MORE] = [
  IS_BOOLEAN,
  IS_NULL,
  IS_BIGINT,
  IS_BYTES,
  IS_ARRAY,
  CONTINUED,
].map(codeOf) as [number, number, number, number, number, number];

const TWO_32 = 2 ** 32;

/** Types of values as errors name them. */
const TYPE_NAMES = ['no type', 'u64', 'i64', 'f64', 'a string'];

/** What violates the format or the contract of spans. */
export class BadSpan extends Error {
  readonly field: string | undefined;
  readonly limit: string | undefined;

  /**
   * @param field the attribute at fault; undefined: the packet's own decoder says what is wrong.
   * @param limit what it must be.
   */
  constructor(field?: string, limit?: string, got = '') {
    super(
      field === undefined
        ? 'the span is not as the contract says'
        : `${field} is ${got}; want ${limit}`,
    );
    this.field = field;
    this.limit = limit;
  }
}

/** Smaller values of a large record are decoded at once. */
export const LARGE_VALUE_BYTES = 256;

/** Attributes of a large record: see `defineOnDemand`. */
export class LargeAttributes {
  [name: string]: RecordedValue;
}

/** Sets a value that is decoded whenever it is read. The name may have a value. */
export function defineOnDemand(
  object: Record<string, unknown>,
  name: string,
  get: () => unknown,
): void {
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
}

/** Steps through the attributes of one event. Whatever it is given may be hostile. */
export class AttributeCursor {
  at = 0;
  /** Of a reserved attribute its letter; 0: the program's own. */
  code = 0;
  /** The program's name of the attribute. */
  name = '';
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #end = 0;
  readonly #texts = new TextDecoding();

  /** Sets the bytes of an event, and where to begin in it. */
  set(bytes: Buffer, view: DataView, at: number, end: number): void {
    this.#bytes = bytes;
    this.#view = view;
    this.at = at;
    this.#end = end;
  }

  /** Reads the next attribute's name into `code` or `name`; false at the end of the event. */
  next(): boolean {
    const { at } = this;
    const end = this.#end;
    if (at >= end) return false;
    if (at + 3 > end) throw new BadSpan();
    const length = this.#view.getUint16(at);
    const from = at + 2;
    const to = from + length;
    if (to >= end) throw new BadSpan();
    this.at = to;
    if (length > 0 && this.#bytes[from] === TILDE) {
      const second = length === 1 ? 0 : this.#bytes[from + 1]!;
      if (length === 2 && second !== TILDE) {
        this.code = second;
        return true;
      }
      this.code = 0;
      this.name = this.#decode(second === TILDE ? from + 1 : from, to);
      return true;
    }
    this.code = 0;
    this.name = this.#decode(from, to);
    return true;
  }

  /** Reads a string from an offset in the bytes, and returns it. */
  textAt(from: number): string {
    this.at = from;
    return this.#text();
  }

  /** The value of the attribute, with the modifiers that follow it. */
  value(depth = 0): RecordedValue {
    const view = this.#view;
    const { at } = this;
    const type = this.#bytes[at];
    let value: RecordedValue;
    this.at = at + 1;
    if (type === TYPE_STRING) {
      value = this.#text();
    } else if (type === TYPE_U64 || type === TYPE_I64) {
      const offset = this.#word();
      const high = type === TYPE_U64 ? view.getUint32(offset) : view.getInt32(offset);
      value = high * TWO_32 + view.getUint32(offset + 4);
      if (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER) {
        value = type === TYPE_U64 ? view.getBigUint64(offset) : view.getBigInt64(offset);
      }
    } else if (type === TYPE_F64) {
      value = view.getFloat64(this.#word());
    } else if (type !== undefined && (type & TYPE_ARRAY) !== 0) {
      value = this.#array(type & ~TYPE_ARRAY);
    } else {
      throw new BadSpan();
    }
    return this.#nextIsReserved() ? this.#modified(value, depth) : value;
  }

  /** A u64 that the contract requires, as a number that is exact up to 2^53. */
  number(): number {
    this.#require(TYPE_U64, 0);
    const offset = this.#word();
    return this.#view.getUint32(offset) * TWO_32 + this.#view.getUint32(offset + 4);
  }

  /** A u64 or i64 that the contract requires. */
  integer(): bigint {
    const type = this.#require(TYPE_U64, TYPE_I64);
    const offset = this.#word();
    return type === TYPE_U64 ? this.#view.getBigUint64(offset) : this.#view.getBigInt64(offset);
  }

  /** A u64 that the contract requires, as sixteen hexadecimal digits. */
  hex(): string {
    this.#require(TYPE_U64, 0);
    const offset = this.#word();
    return this.#bytes.toString('hex', offset, offset + 8);
  }

  /** A string that the contract requires, of any length. */
  text(): string {
    this.#require(TYPE_STRING, 0);
    this.at--;
    const value = this.value();
    if (typeof value !== 'string') throw this.#wrong('no plain string', 'a string');
    return value;
  }

  /** Puts the program's attribute whose name was read into `attributes`. */
  put(attributes: RecordedAttributes): void {
    const { name, at } = this;
    const value = this.value();
    const isLarge = attributes instanceof LargeAttributes;
    if (isLarge && this.at - at > LARGE_VALUE_BYTES) {
      const again = new AttributeCursor();
      const [bytes, view, end] = [this.#bytes, this.#view, this.#end];
      defineOnDemand(attributes, name, () => {
        again.set(bytes, view, at, end);
        return again.value();
      });
    } else if (isLarge || name === '__proto__') {
      Object.defineProperty(attributes, name, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    } else {
      attributes[name] = value;
    }
  }

  /** Steps over the type of the attribute's value, and returns it. */
  #require(type: number, other: number): number {
    const got = this.#bytes[this.at]!;
    if (got !== type && got !== other) {
      const names = [type, other].filter((each) => each !== 0).map((each) => TYPE_NAMES[each]!);
      const isArray = (got & TYPE_ARRAY) !== 0;
      throw this.#wrong(isArray ? 'an array' : (TYPE_NAMES[got] ?? 'no type'), names.join(' or '));
    }
    this.at++;
    return got;
  }

  #wrong(got: string, limit: string): BadSpan {
    const { code, name } = this;
    const field = code === 0 ? name : RESERVED + String.fromCharCode(code);
    return new BadSpan(`the attribute ${JSON.stringify(field)}`, limit, got);
  }

  #nextIsReserved(): boolean {
    const { at } = this;
    return at + 7 <= this.#end && this.#view.getUint32(at) >>> 8 === RESERVED_HEAD >>> 8;
  }

  #modified(given: RecordedValue, depth: number): RecordedValue {
    let value = given;
    while (this.#nextIsReserved()) {
      switch (this.#bytes[this.at + 3]) {
        case BOOLEAN:
          value = value !== 0;
          break;
        case NULL:
          value = null;
          break;
        case BIGINT:
          value = this.#bigint(value);
          break;
        case BYTES:
          if (typeof value !== 'string') throw new BadSpan();
          value = new Uint8Array(Buffer.from(value, 'base64'));
          break;
        case MORE:
          if (typeof value !== 'string') throw this.#wrong('continued', 'a string');
          this.at += 5;
          value += this.#text();
          continue;
        case ARRAY:
          this.at += 7;
          value = this.#elements(value, depth + 1);
          continue;
        default:
          return value;
      }
      // A modifier's value is an empty string.
      this.at += 5;
      this.#text();
    }
    return value;
  }

  #bigint(value: RecordedValue): bigint {
    if (typeof value === 'bigint') return value;
    const isInteger = typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isInteger(value);
    if (!isInteger) throw this.#wrong('no integer', 'an integer or its digits');
    return BigInt(value as string | number);
  }

  #elements(count: RecordedValue, depth: number): RecordedValue[] {
    const left = (this.#end - this.at) / LEAST_ELEMENT_BYTES;
    if (!Number.isInteger(count) || (count as number) < 0 || (count as number) > left) {
      throw this.#wrong('no count of its elements', `an integer from 0 to ${Math.floor(left)}`);
    }
    if (depth > MAX_DEPTH) throw this.#wrong('nested deeper', `at most ${MAX_DEPTH} levels`);
    const values: RecordedValue[] = [];
    for (let i = 0; i < (count as number); i++) {
      if (this.at + 3 > this.#end || this.#view.getUint16(this.at) !== 0) {
        throw this.#wrong(`an array of ${i} elements`, `${String(count)} elements without a name`);
      }
      this.at += 2;
      values.push(this.value(depth));
    }
    return values;
  }

  /** An array as Heph has it. */
  #array(type: number): RecordedValue[] {
    if (this.at + 2 > this.#end) throw new BadSpan();
    const count = this.#view.getUint16(this.at);
    this.at += 2;
    const least = type === TYPE_STRING ? 2 : 8;
    if (count * least > this.#end - this.at) throw new BadSpan();
    const values: RecordedValue[] = [];
    for (let i = 0; i < count; i++) {
      if (type === TYPE_STRING) values.push(this.#text());
      else if (type === TYPE_F64) values.push(this.#view.getFloat64(this.#word()));
      else if (type === TYPE_U64) values.push(exact(this.#view.getBigUint64(this.#word())));
      else if (type === TYPE_I64) values.push(exact(this.#view.getBigInt64(this.#word())));
      else throw new BadSpan();
    }
    return values;
  }

  #word(): number {
    const { at } = this;
    if (at + 8 > this.#end) throw new BadSpan();
    this.at = at + 8;
    return at;
  }

  #text(): string {
    const { at } = this;
    if (at + 2 > this.#end) throw new BadSpan();
    const from = at + 2;
    const to = from + this.#view.getUint16(at);
    if (to > this.#end) throw new BadSpan();
    this.at = to;
    return this.#decode(from, to);
  }

  #decode(from: number, to: number): string {
    const text = this.#texts.decode(this.#bytes, from, to);
    if (text === undefined) throw new BadSpan();
    return text;
  }
}

function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
