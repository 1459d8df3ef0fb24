import { BoundedCache } from '../../core/bounded-cache.js';
import { writeText, writeUntyped } from '../../heph/write/encoder.js';
import { prefixed } from '../../heph/write/event-text.js';
import { TYPE_BYTES } from '../../heph/write/value.js';
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
/** Bytes of the length of a text, and of a value that is no text. */
const LENGTH_BYTES = 2;
const WORD_BYTES = 8;

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

/** An integer as a number, unless that has not all of its digits. */
function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Attributes of a slot, of which each value is one element. The last value of a name counts. */
export class SlotAttributes {
  readonly #view: DataView;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(view: DataView, bytes: Buffer) {
    this.#view = view;
    this.#bytes = bytes;
  }

  /** Those from one offset to another. */
  read(from: number, to: number): Record<string, SpanValue> {
    const read: Record<string, SpanValue> = {};
    let last = '';
    this.#at = from;
    while (this.#at < to) {
      const name = this.#text();
      const value = this.#value();
      if (name === IS_BOOLEAN) define(read, last, read[last] === 1);
      else if (name === IS_BIGINT) define(read, last, BigInt(read[last] as number | bigint));
      else {
        last = name.startsWith(RESERVED) ? name.slice(RESERVED.length) : name;
        define(read, last, value);
      }
    }
    return read;
  }

  /** The text of one of them; empty: it is absent, or no text. */
  textOf(wanted: string, from: number, to: number): string {
    const view = this.#view;
    const { bytes: length, words } = attributeName(wanted);
    const [first] = words;
    let found = 0;
    for (let at = from; at < to;) {
      const value = at + LENGTH_BYTES + view.getUint16(at);
      // Length and first letters, then all of it.
      if (view.getInt32(at) === first && this.#isAt(at, wanted, length)) found = value;
      const isText = view.getUint8(value) === TYPE_BYTES.string;
      at = value + 1 + (isText ? LENGTH_BYTES + view.getUint16(value + 1) : WORD_BYTES);
    }
    if (found === 0 || view.getUint8(found) !== TYPE_BYTES.string) return '';
    this.#at = found + 1;
    return this.#text();
  }

  #isAt(at: number, wanted: string, length: number): boolean {
    return this.#bytes.toString('utf8', at + LENGTH_BYTES, at + length) === wanted;
  }

  #text(): string {
    const start = this.#at + LENGTH_BYTES;
    this.#at = start + this.#view.getUint16(this.#at);
    return this.#bytes.toString('utf8', start, this.#at);
  }

  #value(): SpanValue {
    const view = this.#view;
    const type = view.getUint8(this.#at++);
    if (type === TYPE_BYTES.string) return this.#text();
    const at = this.#at;
    this.#at += WORD_BYTES;
    if (type === TYPE_BYTES.f64) return view.getFloat64(at);
    return exact(type === TYPE_BYTES.i64 ? view.getBigInt64(at) : view.getBigUint64(at));
  }
}
