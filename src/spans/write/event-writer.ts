import { isUint8Array } from 'node:util/types';
import { isArray, takeElements } from '../../core/taken-elements.js';
import { writeUtf8 } from '../../core/utf8.js';
import {
  DEFAULT_MAX_PACKET_BYTES,
  END_OFFSET,
  MAX_ATTRIBUTES,
  MAX_U16,
  nameAt,
  SIZE_OFFSET,
  START_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../heph/layout.js';
import { writeHead, writeTyped } from '../../heph/write/encoder.js';
import { MAX_U64, MIN_I64, TYPE_BYTES, TypedValue } from '../../heph/write/value.js';
import {
  CONTINUED,
  IS_ARRAY,
  IS_BIGINT,
  IS_BOOLEAN,
  IS_BYTES,
  IS_NULL,
  RESERVED,
} from '../layout.js';
import type { TraceTime } from '../time.js';
import { jsonOf } from './json-value.js';

const FIRST_BYTES = 16 << 10;
/** A buffer that grew beyond this for one event is not kept. */
const KEPT_BYTES = 1 << 20;
/** Deeper arrays become JSON. */
const MAX_DEPTH = 8;
const PER_TWO_32 = 2 ** -32;
/** Elements of all arrays of an event. Readers count each as an attribute: the other half is for the rest. */
const MOST_ELEMENTS = MAX_ATTRIBUTES / 2;

/** Thrown when an event takes more bytes than its writer may use, or more attributes than readers accept. */
export const TOO_LONG = new RangeError('the event is too long');

/** Encodes one Heph event at a time, of any kind and size, into memory of its own. */
export class EventWriter {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  view = new DataView(this.bytes.buffer);
  at = 0;
  /** Attributes that could not be recorded, since `begin`. */
  dropped = 0;
  /** Attributes of a span that its record lacks. */
  lost = 0;
  /** Longest text of an attribute's value, in characters. */
  maxText = Infinity;
  /** Ends a text that was cut. */
  cutMark = '';
  /** Bytes from which on the writer gives up. What a program gave may be without end. */
  mostBytes = DEFAULT_MAX_PACKET_BYTES;
  /** Elements of arrays that the attribute, and the whole event, may still have. */
  #elements = 0;
  #allElements = 0;
  #attributes = 0;

  /** Begins an event; its times, its counter and its size are yet to come. */
  begin(stream: number, counter: number, description: string): void {
    if (this.bytes.length > KEPT_BYTES) this.#allocate(FIRST_BYTES);
    this.dropped = 0;
    this.#allElements = MOST_ELEMENTS;
    this.#attributes = 0;
    this.at = 0;
    this.#need(nameAt(0));
    const { view } = this;
    writeHead(view, 0, stream, counter, 0);
    view.setBigUint64(SUBSTREAM_OFFSET, 0n);
    this.at = nameAt(0);
    this.#short(description);
  }

  /** Sets start and end, nanoseconds since the epoch. A time before the epoch is written as 0. */
  times(start: TraceTime, end: TraceTime): void {
    this.#time(START_OFFSET, start);
    this.#time(END_OFFSET, end);
  }

  #time(at: number, time: TraceTime): void {
    const { view } = this;
    if (typeof time === 'bigint') {
      view.setBigUint64(at, time < 0n ? 0n : time);
      return;
    }
    const known = time > 0 ? time : 0;
    view.setUint32(at, known * PER_TWO_32);
    view.setUint32(at + 4, known);
  }

  /** Ends the event and returns its bytes. They are valid until the next event. */
  finish(): Buffer {
    this.view.setUint32(SIZE_OFFSET, this.at);
    return this.bytes.subarray(0, this.at);
  }

  /** A reserved u64 of two words. */
  words(name: string, high: number, low: number): void {
    this.#head(name, 9);
    this.view.setUint8(this.at, TYPE_BYTES.u64);
    this.view.setInt32(this.at + 1, high);
    this.view.setInt32(this.at + 5, low);
    this.at += 9;
  }

  /** A reserved u64, below 2^53. */
  unsigned(name: string, value: number | bigint): void {
    this.#word(name, 'u64', value);
  }

  /** A reserved i64. */
  signed(name: string, value: TraceTime): void {
    this.#word(name, 'i64', typeof value === 'bigint' ? value : Math.round(value));
  }

  /** A reserved string. */
  text(name: string, text: string): void {
    this.#head(name, 1);
    this.#string(text);
  }

  /** Attributes that were encoded before. */
  encoded(bytes: Uint8Array): void {
    this.#need(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /**
   * An attribute of the program; what cannot be recorded is counted as dropped.
   *
   * @throws TOO_LONG when the event takes more than `mostBytes`.
   */
  attribute(name: string, value: unknown): void {
    const from = this.at;
    this.#elements = MAX_U16;
    // A name of one byte more must fit too.
    if (name.length > MAX_U16 / 3 - 1) {
      this.dropped++;
      return;
    }
    try {
      if (this.#value(name.startsWith(RESERVED) ? RESERVED + name : name, value, 0)) return;
    } catch (error) {
      if (error === TOO_LONG) throw error;
      // The code of the program threw: a getter, a proxy, toJSON.
    }
    this.at = from;
    this.dropped++;
  }

  /** False when the value cannot be recorded. */
  #value(name: string, value: unknown, depth: number): boolean {
    switch (typeof value) {
      case 'string':
        this.#head(name, 1);
        this.#string(
          value.length > this.maxText ? value.slice(0, this.maxText) + this.cutMark : value,
        );
        return true;
      case 'number':
        this.#number(name, value);
        return true;
      case 'boolean':
        this.#word(name, 'u64', value ? 1 : 0);
        this.#modifier(IS_BOOLEAN);
        return true;
      case 'bigint':
        if (value >= MIN_I64 && value <= MAX_U64) {
          this.#word(name, value < 0n ? 'i64' : 'u64', value);
        } else {
          const digits = value.toString();
          if (digits.length > MAX_U16) return false;
          this.#head(name, 1);
          this.#string(digits);
        }
        this.#modifier(IS_BIGINT);
        return true;
      case 'undefined':
        // Of an array; others were left out before.
        this.#word(name, 'u64', 0);
        this.#modifier(IS_NULL);
        return true;
      case 'object':
        return this.#object(name, value, depth);
      default:
        return false;
    }
  }

  #object(name: string, value: object | null, depth: number): boolean {
    if (value === null) return this.#value(name, undefined, depth);
    if (TypedValue.is(value)) return this.#typed(name, value);
    if (isUint8Array(value)) {
      this.#head(name, 1);
      this.#string(base64Of(value, this.maxText));
      this.#modifier(IS_BYTES);
      return true;
    }
    const isList = isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
    if (isList && depth < MAX_DEPTH) {
      // A proxy may state any length: one that is none throws here, and the attribute is dropped.
      const values = takeElements(name, value, this.#elementsLeft(), 'an array');
      this.#take(values.length);
      this.#word(name, 'u64', values.length);
      this.#modifier(IS_ARRAY);
      return values.every((each) => this.#value('', each, depth + 1));
    }
    if (value instanceof Date) return this.#value(name, value.toISOString(), depth);
    const json = jsonOf(value);
    return json === undefined ? false : this.#value(name, json, depth);
  }

  /** A value whose type on the wire the program has stated. */
  #typed(name: string, { type, value }: TypedValue): boolean {
    const each = type.replace('[]', '');
    const put = (to: string, scalar: unknown): void => {
      if (each === 'f64') this.#word(to, 'f64', Number(scalar));
      else if (each === 'string') this.#value(to, String(scalar), 0);
      else {
        const integer = typeof scalar === 'boolean' ? Number(scalar) : (scalar as number | bigint);
        this.#word(to, each === 'i64' ? 'i64' : 'u64', integer);
      }
    };
    if (!type.endsWith('[]')) {
      put(name, value);
      return true;
    }
    const values = value as ArrayLike<unknown>;
    // The same one may be many times in an array.
    if (values.length > this.#elementsLeft()) return false;
    this.#take(values.length);
    this.#word(name, 'u64', values.length);
    this.#modifier(IS_ARRAY);
    for (let i = 0; i < values.length; i++) put('', values[i]);
    return true;
  }

  #elementsLeft(): number {
    return Math.min(this.#elements, this.#allElements);
  }

  #take(elements: number): void {
    this.#elements -= elements;
    this.#allElements -= elements;
  }

  #number(name: string, value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.#word(name, value < 0 ? 'i64' : 'u64', value);
    } else {
      this.#word(name, 'f64', value);
    }
  }

  #word(name: string, type: 'u64' | 'i64' | 'f64', value: number | bigint): void {
    this.#head(name, 9);
    this.at = writeTyped(this.view, this.bytes, this.at, type, value);
  }

  #modifier(name: string): void {
    this.#head(name, 3);
    this.at = writeTyped(this.view, this.bytes, this.at, 'string', '');
  }

  /** The type and a text of any length, whose room for the first byte is there. */
  #string(text: string): void {
    const { view } = this;
    view.setUint8(this.at, TYPE_BYTES.string);
    this.at++;
    if (text.length <= MAX_U16 / 3) {
      this.#short(text);
      return;
    }
    if (text.length > this.mostBytes) throw TOO_LONG;
    const bytes = Buffer.from(text);
    let from = 0;
    for (;;) {
      const to = endOfPart(bytes, from);
      this.#need(2 + to - from);
      this.view.setUint16(this.at, to - from);
      bytes.copy(this.bytes, this.at + 2, from, to);
      this.at += 2 + to - from;
      if (to === bytes.length) return;
      from = to;
      this.#head(CONTINUED, 1);
      this.view.setUint8(this.at, TYPE_BYTES.string);
      this.at++;
    }
  }

  /** A text that surely fits: u16 bytes, then those. */
  #short(text: string): void {
    const fitting = text.length <= MAX_U16 / 3 ? text : text.slice(0, MAX_U16 / 3);
    this.#need(2 + 3 * fitting.length);
    const count = writeUtf8(this.bytes, this.at + 2, fitting);
    this.view.setUint16(this.at, count);
    this.at += 2 + count;
  }

  /** An attribute's name, and room for `more` bytes after it. */
  #head(name: string, more: number): void {
    if (++this.#attributes > MAX_ATTRIBUTES) throw TOO_LONG;
    this.#short(name);
    this.#need(more);
  }

  #need(bytes: number): void {
    if (this.at > this.mostBytes) throw TOO_LONG;
    const needed = this.at + bytes;
    if (needed <= this.bytes.length) return;
    const before = this.bytes;
    this.#allocate(Math.max(needed, 2 * before.length));
    before.copy(this.bytes, 0, 0, this.at);
  }

  #allocate(bytes: number): void {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    this.view = new DataView(this.bytes.buffer);
  }
}

/** The first bytes of an array, at most `most`. */
function base64Of({ buffer, byteOffset, length }: Uint8Array, most: number): string {
  return Buffer.from(buffer, byteOffset, Math.min(length, most)).toString('base64');
}

/** Where a part of a long text ends: at most 65,535 bytes on, and never within a character. */
function endOfPart(bytes: Buffer, from: number): number {
  let to = Math.min(bytes.length, from + MAX_U16);
  while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to--;
  return to;
}
