import { TYPE_ARRAY, TYPE_F64, TYPE_I64, TYPE_STRING, TYPE_U64 } from '../../../heph/layout.js';
import {
  CONTINUED,
  DROPPED_ATTRIBUTES,
  DROPPED_EVENTS,
  DROPPED_LINKS,
  EVENT,
  IS_ARRAY,
  LINK,
  REAL_END,
  REAL_START,
  RESERVED,
  STATUS_MESSAGE,
  TRACE_STATE,
} from '../../layout.js';
import { sameAttribute } from '../older-names.js';
import { HTTP_NAME, SYSTEM_NAMES } from '../system-of.js';
import {
  ANY_TEXT,
  HASHED_TEXT_BYTES,
  hashOfDouble,
  hashOfPair,
  hashOfText,
  hashOfWord,
} from './attribute-hash.js';
import type { RowColumns } from '../../../rows/row-columns.js';

const TWO_32 = 2 ** 32;
const TILDE = RESERVED.charCodeAt(0);
const codeOf = (name: string): number => name.charCodeAt(1);
const [MORE, ARRAY, START, END] = [CONTINUED, IS_ARRAY, REAL_START, REAL_END].map(codeOf) as [
  number,
  number,
  number,
  number,
];
const FIRST_SECTION = (codeOf(EVENT) & ~0x1f) | 1;
const LAST_SECTION = FIRST_SECTION + 25;

/** Whether an attribute of ours with this letter begins an event or a link: what follows belongs to that. */
export function isSection(code: number): boolean {
  return code >= FIRST_SECTION && code <= LAST_SECTION;
}

/** What readers of spans require, by the letter of a reserved attribute; 0: nothing, or one of several. */
const WANTED_TYPES = new Uint8Array(256);
for (const name of [EVENT, STATUS_MESSAGE, TRACE_STATE]) WANTED_TYPES[codeOf(name)] = TYPE_STRING;
for (const name of [LINK, DROPPED_ATTRIBUTES, DROPPED_EVENTS, DROPPED_LINKS]) {
  WANTED_TYPES[codeOf(name)] = TYPE_U64;
}

/** Attributes whose text the index needs, and where it is in `AttributeScan.texts`. */
export const ROUTE = 0;
/** Under any of its names. */
const METHOD = 1;
/** From here on: the system of an operation, in the order of SYSTEM_NAMES. */
const SYSTEMS = 2;
const TEXTS = SYSTEMS + SYSTEM_NAMES.length;
const WANTED = [
  ['http.route', ROUTE],
  ...sameAttribute(HTTP_NAME).map((name) => [name, METHOD] as const),
  ...SYSTEM_NAMES.flatMap((name, i) =>
    sameAttribute(name).map((each) => [each, SYSTEMS + i] as const),
  ),
].map(([name, slot]) => ({ bytes: Buffer.from(name as string), slot: slot as number }));
/** By the length of their names. */
const WANTED_OF_LENGTH: { bytes: Buffer; slot: number }[][] = [];
const IS_WANTED_LENGTH = new Uint8Array(1 << 16);
for (const wanted of WANTED) {
  (WANTED_OF_LENGTH[wanted.bytes.length] ??= []).push(wanted);
  IS_WANTED_LENGTH[wanted.bytes.length] = 1;
}

/** Goes through the attributes of a Heph event without making an object. They may be hostile. */
export class AttributeScan {
  /** Where the wanted texts lie in the bytes: from and to of each; to 0: absent. */
  readonly texts = new Uint32Array(2 * TEXTS);
  /** Where 64 bits lie that replace the event's own start and end; 0: absent. */
  realStart = 0;
  realEnd = 0;
  readonly #rows: RowColumns;
  readonly #hashes: boolean;
  /** Whether `texts` has any. */
  #hasTexts = false;
  #ofValue = 0;
  /** Bytes of the last text. */
  #textBytes = 0;

  /** @param rows take the hashes of the attributes, if these are wanted. */
  constructor(rows: RowColumns, hashes = true) {
    this.#rows = rows;
    this.#hashes = hashes;
  }

  /** Reads the attributes from `at` to `end`; false where they are not as the format says. */
  read(bytes: Uint8Array, view: DataView, from: number, end: number): boolean {
    let at = from;
    let ofName = 0;
    let hasValue = false;
    let isElement = false;
    let isInSection = false;
    this.realStart = 0;
    this.realEnd = 0;
    if (this.#hasTexts) this.texts.fill(0);
    this.#hasTexts = false;
    while (at < end) {
      if (at + 3 > end) return false;
      let begin = at + 2;
      const to = begin + view.getUint16(at);
      if (to >= end) return false;
      const length = to - begin;
      at = to;
      if (length > 0 && bytes[begin] === TILDE) {
        const code = length === 1 ? TILDE : bytes[begin + 1]!;
        if (length === 2 && code !== TILDE) {
          if (code === MORE && bytes[at] === TYPE_STRING) {
            if (this.#textBytes < HASHED_TEXT_BYTES) this.#ofValue = ANY_TEXT;
            at = endOfValue(bytes, view, at, end);
          } else {
            const wanted = WANTED_TYPES[code]!;
            if (wanted !== 0 && bytes[at] !== wanted) return false;
            if (code === ARRAY) isElement = true;
            else if (isSection(code)) isInSection = true;
            else if (!isInSection && (code === START || code === END)) {
              if (bytes[at] !== TYPE_I64 && bytes[at] !== TYPE_U64) return false;
              if (at + 9 > end) return false;
              if (code === START) this.realStart = at + 1;
              else this.realEnd = at + 1;
            }
            at = endOfValue(bytes, view, at, end);
          }
          if (at === 0) return false;
          continue;
        }
        if (code === TILDE && length > 1) begin++;
      }
      if (isInSection) {
        at = endOfValue(bytes, view, at, end);
        if (at === 0) return false;
        continue;
      }
      if (hasValue) this.#rows.addHash(hashOfPair(ofName, this.#ofValue));
      if (!this.#hashes) {
        if (IS_WANTED_LENGTH[length] === 1) {
          this.#noteText(bytes, view, begin, to, end);
        }
        at = endOfValue(bytes, view, at, end);
        if (at === 0) return false;
        continue;
      }
      // Elements of an array have no name: they count as values of the array's.
      if (length > 0 || !isElement) {
        ofName = hashOfText(view, begin, to);
        isElement = false;
        if (IS_WANTED_LENGTH[to - begin] === 1) this.#noteText(bytes, view, begin, to, end);
      }
      hasValue = true;
      at = this.#value(bytes, view, at, end, ofName);
      if (at === 0) return false;
    }
    if (hasValue) this.#rows.addHash(hashOfPair(ofName, this.#ofValue));
    return true;
  }

  #noteText(bytes: Uint8Array, view: DataView, from: number, to: number, end: number): void {
    for (const { bytes: wanted, slot } of WANTED_OF_LENGTH[to - from]!) {
      if (!isAt(bytes, from, wanted)) continue;
      if (bytes[to] !== TYPE_STRING || to + 3 > end) return;
      const last = to + 3 + view.getUint16(to + 1);
      if (last > end) return;
      this.texts[2 * slot] = to + 3;
      this.texts[2 * slot + 1] = last;
      this.#hasTexts = true;
      return;
    }
  }

  /** Which of the texts names the system of the operation; -1: none, or it is one of HTTP. */
  get system(): number {
    if (!this.#hasTexts) return -1;
    for (let slot = SYSTEMS; slot < TEXTS; slot++) {
      if (this.texts[2 * slot + 1] !== 0) return slot;
    }
    return -1;
  }

  get isHttp(): boolean {
    return this.#hasTexts && this.texts[2 * METHOD + 1] !== 0;
  }

  /** Hashes the value at `at`, which is its type; returns its end, 0 where it is faulty. */
  #value(bytes: Uint8Array, view: DataView, at: number, end: number, ofName: number): number {
    const type = bytes[at]!;
    if (type === TYPE_STRING) {
      if (at + 3 > end) return 0;
      const from = at + 3;
      const to = from + view.getUint16(at + 1);
      if (to > end) return 0;
      this.#ofValue = hashOfText(view, from, to);
      this.#textBytes = to - from;
      return to;
    }
    if (isWord(type)) {
      const to = at + 9;
      if (to > end) return 0;
      const high = view.getInt32(at + 1);
      const low = view.getInt32(at + 5);
      this.#ofValue = type === TYPE_F64 ? hashOfDouble(high, low) : hashOfWord(high, low);
      return to;
    }
    return this.#array(bytes, view, at, end, ofName);
  }

  /** An array as Heph has it: each element counts as a value. */
  #array(bytes: Uint8Array, view: DataView, at: number, end: number, ofName: number): number {
    const type = bytes[at]! & ~TYPE_ARRAY;
    if ((bytes[at]! & TYPE_ARRAY) === 0 || at + 3 > end) return 0;
    let left = view.getUint16(at + 1);
    let offset = at + 3;
    this.#ofValue = 0;
    for (; left > 0; left--) {
      let to = offset + 8;
      if (type === TYPE_STRING) {
        if (offset + 2 > end) return 0;
        to = offset + 2 + view.getUint16(offset);
        if (to > end) return 0;
        this.#ofValue = hashOfText(view, offset + 2, to);
      } else if (isWord(type)) {
        if (to > end) return 0;
        const high = view.getInt32(offset);
        const low = view.getInt32(offset + 4);
        this.#ofValue = type === TYPE_F64 ? hashOfDouble(high, low) : hashOfWord(high, low);
      } else {
        return 0;
      }
      if (left > 1) this.#rows.addHash(hashOfPair(ofName, this.#ofValue));
      offset = to;
    }
    return offset;
  }
}

/** Where the value ends whose type is at `at`; 0: it is faulty, or does not lie within the record. */
export function endOfValue(bytes: Uint8Array, view: DataView, at: number, end: number): number {
  const type = bytes[at]!;
  if (type === TYPE_STRING) {
    if (at + 3 > end) return 0;
    const to = at + 3 + view.getUint16(at + 1);
    return to > end ? 0 : to;
  }
  if (isWord(type)) return at + 9 > end ? 0 : at + 9;
  if ((type & TYPE_ARRAY) === 0 || at + 3 > end) return 0;
  const elements = type & ~TYPE_ARRAY;
  const count = view.getUint16(at + 1);
  let to = at + 3;
  if (elements !== TYPE_STRING) {
    if (count > 0 && !isWord(elements)) return 0;
    to += 8 * count;
    return to > end ? 0 : to;
  }
  for (let left = count; left > 0; left--) {
    if (to + 2 > end) return 0;
    to += 2 + view.getUint16(to);
  }
  return to > end ? 0 : to;
}

export function isText(type: number): boolean {
  return type === TYPE_STRING;
}

export function isUnsigned(type: number): boolean {
  return type === TYPE_U64;
}

/** The number of a value, whose type is at `at` and which lies within the record; undefined: it is none. */
export function numberAt(bytes: Uint8Array, view: DataView, at: number): number | undefined {
  const type = bytes[at]!;
  if (type === TYPE_F64) return view.getFloat64(at + 1);
  if (type !== TYPE_U64 && type !== TYPE_I64) return undefined;
  const high = type === TYPE_U64 ? view.getUint32(at + 1) : view.getInt32(at + 1);
  return high * TWO_32 + view.getUint32(at + 5);
}

export function isFloat(type: number): boolean {
  return type === TYPE_F64;
}

function isWord(type: number): boolean {
  return type === TYPE_U64 || type === TYPE_I64 || type === TYPE_F64;
}

/** From the end: names of one library begin alike. */
export function isAt(bytes: Uint8Array, from: number, wanted: Uint8Array): boolean {
  for (let at = wanted.length - 1; at >= 0; at--) {
    if (bytes[from + at] !== wanted[at]) return false;
  }
  return true;
}
