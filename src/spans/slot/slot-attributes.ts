import { BoundedCache } from '../../core/bounded-cache.js';
import { AttributeCursor } from '../../heph/attribute-cursor.js';
import { LENGTH_BYTES, WORD_BYTES } from '../../heph/layout.js';
import { writeText, writeUntyped } from '../../heph/write/encoder.js';
import { prefixed } from '../../heph/write/event-text.js';
import type { AttributeScalar } from '../../heph/write/value.js';
import { define } from '../attributes.js';
import type { SpanValue } from '../attributes.js';
import { IS_BIGINT, IS_BOOLEAN, MODIFIER_BYTES, RESERVED } from '../layout.js';

/** The name of an attribute as records have it. */
export interface AttributeName {
  readonly bytes: number;
  /** The last word has bytes that are not of the name. */
  readonly words: readonly number[];
}

/** Names are data: so many are cached, and so long ones. */
const CACHED = 1024;
const LONGEST = 256;

const names = new BoundedCache<AttributeName>(CACHED, LONGEST, (name) => {
  const recorded = prefixed(name.startsWith(RESERVED) ? RESERVED + name : name);
  const padded = Buffer.concat([recorded, Buffer.alloc(-recorded.length & 3)]);
  const words = Array.from({ length: padded.length / 4 }, (_, i) => padded.readInt32BE(4 * i));
  return { bytes: recorded.length, words };
});

/** The name that came last. */
let last = '';
let lastName = names.of(last);

export function attributeName(name: string): AttributeName {
  if (name !== last) {
    lastName = names.of(name);
    last = name;
  }
  return lastName;
}

/** Most bytes that an attribute takes while it is written. */
export function mostBytes({ words }: AttributeName, value: SpanValue): number {
  const text = typeof value === 'string' ? LENGTH_BYTES + 3 * value.length : WORD_BYTES;
  return 4 * words.length + 1 + text + MODIFIER_BYTES;
}

function writeModifier(view: DataView, bytes: Buffer, at: number, name: string): number {
  return writeUntyped(view, bytes, writeText(view, bytes, at, name), '');
}

/** Writes an attribute, for which there must be room, and returns the offset after it. */
export function writeAttribute(
  view: DataView,
  bytes: Buffer,
  at: number,
  { bytes: nameBytes, words }: AttributeName,
  value: AttributeScalar,
): number {
  for (let i = 0; i < words.length; i++) view.setInt32(at + 4 * i, words[i]!);
  const next = writeUntyped(view, bytes, at + nameBytes, value);
  if (typeof value === 'boolean') return writeModifier(view, bytes, next, IS_BOOLEAN);
  if (typeof value === 'bigint') return writeModifier(view, bytes, next, IS_BIGINT);
  return next;
}

/** Attributes of a slot, of which each value is one element. The last value of a name counts. */
export class SlotAttributes {
  readonly #view: DataView;
  readonly #bytes: Buffer;
  readonly #cursor = new AttributeCursor();

  constructor(view: DataView, bytes: Buffer) {
    this.#view = view;
    this.#bytes = bytes;
  }

  /** Those from one offset to another. */
  read(from: number, to: number): Record<string, SpanValue> {
    const cursor = this.#cursor;
    const read: Record<string, SpanValue> = {};
    let last = '';
    cursor.set(this.#view, from, to);
    while (cursor.next()) {
      const name = this.#text(cursor.nameStart, cursor.nameEnd);
      if (name === IS_BOOLEAN) define(read, last, read[last] === 1);
      else if (name === IS_BIGINT) define(read, last, BigInt(read[last] as number | bigint));
      else {
        last = name.startsWith(RESERVED) ? name.slice(RESERVED.length) : name;
        const { isText, valueStart, valueEnd } = cursor;
        define(read, last, isText ? this.#text(valueStart, valueEnd) : cursor.number());
      }
    }
    return read;
  }

  /** The text of one of them; empty: it is absent, or no text. */
  textOf(wanted: string, from: number, to: number): string {
    const cursor = this.#cursor;
    const name = attributeName(wanted);
    let start = 0;
    let end = 0;
    cursor.set(this.#view, from, to);
    while (cursor.next()) {
      if (!this.#isAtName(name)) continue;
      start = cursor.isText ? cursor.valueStart : 0;
      end = cursor.isText ? cursor.valueEnd : 0;
    }
    return this.#text(start, end);
  }

  /** Whether the cursor is at an attribute of this name: its length comes first, so most names differ at once. */
  #isAtName({ bytes, words }: AttributeName): boolean {
    const at = this.#cursor.nameStart - LENGTH_BYTES;
    let i = 0;
    for (; 4 * (i + 1) <= bytes; i++) {
      if (this.#view.getInt32(at + 4 * i) !== words[i]) return false;
    }
    const rest = bytes - 4 * i;
    // The last word has bytes that are not of the name.
    return rest <= 0 || (this.#view.getInt32(at + 4 * i) ^ words[i]!) >>> (32 - 8 * rest) === 0;
  }

  #text(start: number, end: number): string {
    return this.#bytes.toString('utf8', start, end);
  }
}
