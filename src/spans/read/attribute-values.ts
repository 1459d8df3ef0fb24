import { AttributeCursor } from '../../heph/attribute-cursor.js';
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
import { reservedAt } from './span-identity.js';

const MAX_DEPTH = 8;
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

const IS_MODIFIER: boolean[] = [];
for (const code of [BOOLEAN, NULL, BIGINT, BYTES, ARRAY, MORE]) IS_MODIFIER[code] = true;

/** A violation of the format or of the contract of spans. */
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

/** Reads the attributes of one event as the program gave them. Whatever its bytes are. */
export class AttributeValues {
  /** Of a reserved attribute its letter; 0: the program's own. */
  code = 0;
  /** The program's name of the attribute. */
  name = '';
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #end = 0;
  readonly #cursor = new AttributeCursor();
  readonly #texts = new TextDecoding();

  /** Sets the bytes of an event, and where to begin in it. */
  set(bytes: Buffer, view: DataView, at: number, end: number): void {
    this.#bytes = bytes;
    this.#view = view;
    this.#end = end;
    this.#cursor.set(view, at, end);
  }

  /** Steps to the next attribute, with `code` or `name`; false at the end of the event. */
  next(): boolean {
    const cursor = this.#cursor;
    if (!cursor.next()) {
      if (cursor.fault !== undefined) throw new BadSpan();
      return false;
    }
    const { nameStart: from, nameEnd: to } = cursor;
    this.code = 0;
    if (to > from && this.#bytes[from] === TILDE) {
      const second = to - from === 1 ? 0 : this.#bytes[from + 1]!;
      if (to - from === 2 && second !== TILDE) {
        this.code = second;
        return true;
      }
      this.name = this.#decode(second === TILDE ? from + 1 : from, to);
      return true;
    }
    this.name = this.#decode(from, to);
    return true;
  }

  /** The string at an offset of the bytes, which is outside the attributes. */
  textAt(at: number): string {
    const from = at + 2;
    if (from > this.#end) throw new BadSpan();
    const to = from + this.#view.getUint16(at);
    if (to > this.#end) throw new BadSpan();
    return this.#decode(from, to);
  }

  /** The value of the attribute. Steps over the modifiers that follow it, and over elements. */
  value(depth = 0): RecordedValue {
    const cursor = this.#cursor;
    let value: RecordedValue;
    if (!cursor.isArray) {
      value = this.#scalar();
    } else {
      value = [];
      while (cursor.nextElement()) value.push(this.#scalar());
    }
    return this.#nextCode() === 0 ? value : this.#modified(value, depth);
  }

  /** A u64 that the contract requires, as a number that is exact up to 2^53. */
  number(): number {
    this.#require(this.#cursor.isUnsigned, 'u64');
    return Number(this.#cursor.number());
  }

  /** A u64 or i64 that the contract requires. */
  integer(): bigint {
    this.#require(this.#cursor.isInteger, 'u64 or i64');
    return this.#cursor.bigint();
  }

  /** A u64 that the contract requires, as sixteen hexadecimal digits. */
  hex(): string {
    const { isUnsigned, valueStart, valueEnd } = this.#cursor;
    this.#require(isUnsigned, 'u64');
    return this.#bytes.toString('hex', valueStart, valueEnd);
  }

  /** A string that the contract requires, of any length. */
  text(): string {
    const { isArray, isText } = this.#cursor;
    this.#require(isText && !isArray, 'a string');
    const value = this.value();
    if (typeof value !== 'string') throw this.#wrong('no plain string', 'a string');
    return value;
  }

  /** Puts the program's attribute whose name was read into `attributes`. */
  put(attributes: RecordedAttributes): void {
    const { name } = this;
    const { nameStart, nameEnd } = this.#cursor;
    const value = this.value();
    const isLarge = attributes instanceof LargeAttributes;
    if (isLarge && this.#cursor.at - nameEnd > LARGE_VALUE_BYTES) {
      const again = new AttributeValues();
      const [bytes, view, end] = [this.#bytes, this.#view, this.#end];
      defineOnDemand(attributes, name, () => {
        again.set(bytes, view, nameStart - 2, end);
        again.next();
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

  #require(isGiven: boolean, limit: string): void {
    if (isGiven) return;
    const { isArray, isText, isFloat, isUnsigned } = this.#cursor;
    const single = isText ? 'a string' : isFloat ? 'f64' : isUnsigned ? 'u64' : 'i64';
    throw this.#wrong(isArray ? 'an array' : single, limit);
  }

  #wrong(got: string, limit: string): BadSpan {
    const { code, name } = this;
    const field = code === 0 ? name : RESERVED + String.fromCharCode(code);
    return new BadSpan(`the attribute ${JSON.stringify(field)}`, limit, got);
  }

  /** The letter of the next attribute if it is reserved. */
  #nextCode(): number {
    return reservedAt(this.#view, this.#cursor.at, this.#end);
  }

  #modified(given: RecordedValue, depth: number): RecordedValue {
    let value = given;
    for (;;) {
      const code = this.#nextCode();
      if (!IS_MODIFIER[code]) return value;
      if (!this.#cursor.next()) throw new BadSpan();
      switch (code) {
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
        case MORE: {
          const more = this.#cursor.isArray ? undefined : this.#scalar();
          if (typeof value !== 'string' || typeof more !== 'string') {
            throw this.#wrong('continued', 'a string');
          }
          value += more;
          break;
        }
        case ARRAY:
          value = this.#elements(value, depth + 1);
      }
    }
  }

  #bigint(value: RecordedValue): bigint {
    if (typeof value === 'bigint') return value;
    const isInteger = typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isInteger(value);
    if (!isInteger) throw this.#wrong('no integer', 'an integer or its digits');
    return BigInt(value as string | number);
  }

  #elements(count: RecordedValue, depth: number): RecordedValue[] {
    const cursor = this.#cursor;
    const left = (this.#end - cursor.at) / LEAST_ELEMENT_BYTES;
    if (!Number.isInteger(count) || (count as number) < 0 || (count as number) > left) {
      throw this.#wrong('no count of its elements', `an integer from 0 to ${Math.floor(left)}`);
    }
    if (depth > MAX_DEPTH) throw this.#wrong('nested deeper', `at most ${MAX_DEPTH} levels`);
    const values: RecordedValue[] = [];
    for (let i = 0; i < (count as number); i++) {
      const isElement = cursor.next() && cursor.nameStart === cursor.nameEnd;
      if (cursor.fault !== undefined) throw new BadSpan();
      if (!isElement) {
        throw this.#wrong(`an array of ${i} elements`, `${String(count)} elements without a name`);
      }
      values.push(this.value(depth));
    }
    return values;
  }

  /** The value that the cursor is at, or the element. */
  #scalar(): string | number | bigint {
    const cursor = this.#cursor;
    if (cursor.isText) return this.#decode(cursor.valueStart, cursor.valueEnd);
    return cursor.number();
  }

  #decode(from: number, to: number): string {
    const text = this.#texts.decode(this.#bytes, from, to);
    if (text === undefined) throw new BadSpan();
    return text;
  }
}
