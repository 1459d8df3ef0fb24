import { AttributeCursor } from '../../../heph/attribute-cursor.js';
import { WORD_BYTES } from '../../../heph/layout.js';
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

/** By the letter of a reserved attribute, the type that its value must have; 0: any, or one of several. */
const WANTED = new Uint8Array(256);
const [TEXT, UNSIGNED] = [1, 2];
for (const name of [CONTINUED, EVENT, STATUS_MESSAGE, TRACE_STATE]) WANTED[codeOf(name)] = TEXT;
for (const name of [LINK, DROPPED_ATTRIBUTES, DROPPED_EVENTS, DROPPED_LINKS]) {
  WANTED[codeOf(name)] = UNSIGNED;
}

/** Attributes whose text the index needs, and where it is in `AttributeScan.texts`. */
export const ROUTE = 0;
/** Under any of its names. */
const METHOD = 1;
/** From here on: the system of an operation, in the order of SYSTEM_NAMES. */
const SYSTEMS = 2;
const TEXTS = SYSTEMS + SYSTEM_NAMES.length;
const WANTED_NAMES = [
  ['http.route', ROUTE],
  ...sameAttribute(HTTP_NAME).map((name) => [name, METHOD] as const),
  ...SYSTEM_NAMES.flatMap((name, i) =>
    sameAttribute(name).map((each) => [each, SYSTEMS + i] as const),
  ),
].map(([name, slot]) => ({ bytes: Buffer.from(name as string), slot: slot as number }));
/** By the length of their names. */
const WANTED_OF_LENGTH: { bytes: Buffer; slot: number }[][] = [];
const IS_WANTED_LENGTH = new Uint8Array(1 << 16);
for (const wanted of WANTED_NAMES) {
  (WANTED_OF_LENGTH[wanted.bytes.length] ??= []).push(wanted);
  IS_WANTED_LENGTH[wanted.bytes.length] = 1;
}

/** Hashes the attributes of a Heph event, and finds those that the index needs. They may be hostile. */
export class AttributeScan {
  /** Where the wanted texts lie in the bytes: from and to of each; to 0: absent. */
  readonly texts = new Uint32Array(2 * TEXTS);
  /** Where 64 bits lie that replace the event's own start and end; 0: absent. */
  realStart = 0;
  realEnd = 0;
  readonly #cursor = new AttributeCursor();
  readonly #rows: RowColumns;
  readonly #hashes: boolean;
  /** Whether `texts` has any. */
  #hasTexts = false;

  /** @param rows take the hashes of the attributes, if these are wanted. */
  constructor(rows: RowColumns, hashes = true) {
    this.#rows = rows;
    this.#hashes = hashes;
  }

  /** Reads the attributes from `from` to `end`; false where they are not as the format says. */
  read(bytes: Uint8Array, view: DataView, from: number, end: number): boolean {
    const cursor = this.#cursor;
    cursor.set(view, from, end);
    let ofName = 0;
    let isInSection = false;
    /** Elements of an array that have not come. They have no name: they count as values of the array's. */
    let elements = 0;
    /** Where the last value lies. */
    let lastStart = 0;
    let lastEnd = 0;
    this.realStart = 0;
    this.realEnd = 0;
    if (this.#hasTexts) this.texts.fill(0);
    this.#hasTexts = false;
    while (cursor.next()) {
      let begin = cursor.nameStart;
      const to = cursor.nameEnd;
      const length = to - begin;
      if (length > 0 && bytes[begin] === TILDE) {
        const code = length === 1 ? TILDE : bytes[begin + 1]!;
        if (length === 2 && code !== TILDE) {
          if (isSection(code)) isInSection = true;
          if (!this.#reserved(code, isInSection)) return false;
          if (code === ARRAY) {
            if (lastEnd - lastStart !== WORD_BYTES) return false;
            elements += view.getUint32(lastStart) * TWO_32 + view.getUint32(lastStart + 4);
          } else if (code === MORE && lastEnd - lastStart < HASHED_TEXT_BYTES) {
            if (this.#hashes && !isInSection) this.#rows.addHash(hashOfPair(ofName, ANY_TEXT));
          }
          continue;
        }
        if (code === TILDE && length > 1) begin++;
      }
      const isElement = elements > 0;
      if (isElement) {
        if (length > 0) return false;
        elements--;
      }
      lastStart = cursor.valueStart;
      lastEnd = cursor.valueEnd;
      if (isInSection) continue;
      if (!isElement && IS_WANTED_LENGTH[to - begin] === 1) this.#noteText(bytes, begin, to);
      if (!this.#hashes) continue;
      if (!isElement) ofName = hashOfText(view, begin, to);
      if (cursor.isArray) this.#hashArray(view, ofName);
      else this.#rows.addHash(hashOfPair(ofName, this.#hashOfValue(view)));
    }
    return cursor.fault === undefined && elements === 0;
  }

  /** Reads an attribute of ours; false: its value is not as the contract says. */
  #reserved(code: number, isInSection: boolean): boolean {
    const cursor = this.#cursor;
    const wanted = WANTED[code]!;
    if (wanted === TEXT && (!cursor.isText || cursor.isArray)) return false;
    if (wanted === UNSIGNED && !cursor.isUnsigned) return false;
    if (isInSection || (code !== START && code !== END)) return true;
    if (!cursor.isInteger) return false;
    if (code === START) this.realStart = cursor.valueStart;
    else this.realEnd = cursor.valueStart;
    return true;
  }

  #noteText(bytes: Uint8Array, from: number, to: number): void {
    const cursor = this.#cursor;
    for (const { bytes: wanted, slot } of WANTED_OF_LENGTH[to - from]!) {
      if (!isAt(bytes, from, wanted)) continue;
      if (!cursor.isText || cursor.isArray) return;
      this.texts[2 * slot] = cursor.valueStart;
      this.texts[2 * slot + 1] = cursor.valueEnd;
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

  /** Each element of an array as Heph has it counts as a value. */
  #hashArray(view: DataView, ofName: number): void {
    while (this.#cursor.nextElement()) {
      this.#rows.addHash(hashOfPair(ofName, this.#hashOfValue(view)));
    }
  }

  /** Of the value that the cursor is at, or of the element. */
  #hashOfValue(view: DataView): number {
    const cursor = this.#cursor;
    const { valueStart } = cursor;
    if (cursor.isText) return hashOfText(view, valueStart, cursor.valueEnd);
    return hashOfWord(view.getInt32(valueStart), view.getInt32(valueStart + 4));
  }
}

/** From the end: names of one library begin alike. */
export function isAt(bytes: Uint8Array, from: number, wanted: Uint8Array): boolean {
  for (let at = wanted.length - 1; at >= 0; at--) {
    if (bytes[from + at] !== wanted[at]) return false;
  }
  return true;
}
