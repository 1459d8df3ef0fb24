import { AttributeCursor } from '../../../heph/attribute-cursor.js';
import type { EventBytes } from '../../../heph/read/event-bytes.js';
import { attributesAt } from '../../../heph/layout.js';
import {
  CONTINUED,
  IDENTITY_BYTES,
  IS_ARRAY,
  IS_BIGINT,
  IS_BOOLEAN,
  IS_BYTES,
  IS_NULL,
  MODIFIER_BYTES,
  RESERVED,
} from '../../../spans/layout.js';
import { sameAttribute } from '../../../spans/read/older-names.js';
import { mayContain } from '../parts/attribute-blocks.js';
import type { AttributeBlocks } from '../parts/attribute-blocks.js';
import { hashesOfAttribute } from '../../../spans/read/scan/attribute-hash.js';
import { isAt, isSection } from '../../../spans/read/scan/attribute-scan.js';
import { isIdentity, reservedAt } from '../../../spans/read/span-identity.js';

/** Whether a condition holds, as far as the bytes of a record show it. */
export type Verdict = typeof NO | typeof YES | typeof UNCERTAIN;
export const NO = 0;
export const YES = 1;
/** The record must be decoded: a value is an array, in pieces, or of a rare type. */
export const UNCERTAIN = 2;

const TILDE = RESERVED.charCodeAt(0);
const BOOLEAN = IS_BOOLEAN.charCodeAt(1);
const MODIFIERS = new Uint8Array(256);
for (const name of [IS_BOOLEAN, IS_NULL, IS_BIGINT, IS_ARRAY, IS_BYTES, CONTINUED]) {
  MODIFIERS[name.charCodeAt(1)] = 1;
}

/** A name and a value that a record may have. */
interface Wanted {
  name: Buffer;
  text: string;
  bytes: Buffer;
  /** The value as a number; NaN: none that a person would write. */
  number: number;
  isNaN: boolean;
  verdict: Verdict;
}

/** Says which blocks and which records have some attributes, without decoding a span. */
export class AttributeMatch {
  /** Of each attribute the hashes that it can have. */
  readonly #hashes: readonly (readonly number[])[];
  /** Of a whole array there are only the hashes of its elements. */
  readonly #isWhole: boolean;
  /** Of each attribute the names that it can have. */
  readonly #attributes: readonly (readonly Wanted[])[];
  /** By length of the name. */
  readonly #byLength: (Wanted[] | undefined)[] = [];
  /** A name that is not recorded as it is. */
  readonly #isEscaped: boolean;
  readonly #cursor = new AttributeCursor();

  constructor(attributes: readonly { name: string; value: string }[]) {
    this.#isWhole = attributes.some(({ value }) => value.startsWith('['));
    this.#isEscaped = attributes.some(({ name }) => name === '' || name.startsWith(RESERVED));
    this.#hashes = attributes.map(({ name, value }) =>
      sameAttribute(name).flatMap((each) => hashesOfAttribute(each, value)),
    );
    this.#attributes = attributes.map(({ name, value }) =>
      sameAttribute(name).map((each) => wantedOf(each, value)),
    );
    for (const wanted of this.#attributes.flat()) {
      (this.#byLength[wanted.name.length] ??= []).push(wanted);
    }
  }

  /** Whether one row of a block may have all of them. */
  isInBlock(filters: AttributeBlocks, block: number): boolean {
    if (this.#isWhole) return true;
    return this.#hashes.every((each) => mayContain(filters, block, each));
  }

  /** Whether a record has all of them. Of names that a record has twice the last counts. */
  inRecord({ bytes, view, position, size }: EventBytes): Verdict {
    if (this.#isEscaped) return UNCERTAIN;
    const end = position + size;
    const identity = attributesAt(view, position);
    const isSpan = isIdentity(view, identity, end);
    for (const names of this.#attributes) for (const each of names) each.verdict = NO;
    const cursor = this.#cursor;
    cursor.set(view, isSpan ? identity + IDENTITY_BYTES : identity, end);
    while (cursor.next()) {
      const name = cursor.nameStart;
      const length = cursor.nameEnd - name;
      if (length === 2 && bytes[name] === TILDE) {
        if (isSection(bytes[name + 1]!)) break;
        continue;
      }
      const sameLength = this.#byLength[length];
      if (sameLength === undefined) continue;
      for (let i = 0; i < sameLength.length; i++) {
        const wanted = sameLength[i]!;
        if (!isAt(bytes, name, wanted.name)) continue;
        wanted.verdict = isSpan ? valueVerdict(wanted, bytes, view, cursor, end) : UNCERTAIN;
      }
    }
    if (cursor.fault !== undefined) return UNCERTAIN;
    return this.#verdict();
  }

  #verdict(): Verdict {
    let all: Verdict = YES;
    for (const names of this.#attributes) {
      let best: Verdict = NO;
      for (const { verdict } of names) {
        if (verdict === YES) best = YES;
        else if (verdict === UNCERTAIN && best === NO) best = UNCERTAIN;
      }
      if (best === NO) return NO;
      if (best === UNCERTAIN) all = UNCERTAIN;
    }
    return all;
  }
}

function wantedOf(name: string, value: string): Wanted {
  const number = value.trim() === '' ? NaN : Number(value);
  return {
    name: Buffer.from(name),
    text: value,
    bytes: Buffer.from(value),
    number,
    isNaN: value.trim() === 'NaN',
    verdict: NO,
  };
}

/** Whether the value that the cursor is at is the wanted one. `end` is where the record ends. */
function valueVerdict(
  wanted: Wanted,
  bytes: Uint8Array,
  view: DataView,
  cursor: AttributeCursor,
  end: number,
): Verdict {
  const { at, valueStart, valueEnd } = cursor;
  const modifier = modifierAt(view, at, end);
  if (cursor.isArray) return UNCERTAIN;
  if (cursor.isText) {
    if (modifier !== 0) return UNCERTAIN;
    const { bytes: text } = wanted;
    return valueEnd - valueStart === text.length && isAt(bytes, valueStart, text) ? YES : NO;
  }
  const number = cursor.number();
  if (cursor.isFloat) {
    if (modifier !== 0) return UNCERTAIN;
    return Object.is(number, wanted.number) && (number === number || wanted.isNaN) ? YES : NO;
  }
  if (modifier === BOOLEAN && modifierAt(view, at + MODIFIER_BYTES, end) === 0) {
    return wanted.text === (number !== 0 ? 'true' : 'false') ? YES : NO;
  }
  if (modifier !== 0 || typeof number !== 'number') return UNCERTAIN;
  return Object.is(number, wanted.number) ? YES : NO;
}

/** The letter of the modifier at `at`, 0 where none is. */
function modifierAt(view: DataView, at: number, end: number): number {
  const letter = reservedAt(view, at, end);
  return MODIFIERS[letter] === 1 ? letter : 0;
}
