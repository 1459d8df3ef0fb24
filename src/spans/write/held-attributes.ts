import { writeText, writeUntyped } from '../../heph/write/encoder.js';
import { prefixed } from '../../heph/write/event-text.js';
import { MAX_NAMES } from '../../heph/write/event-shapes.js';
import { TYPE_BYTES } from '../../heph/write/value.js';
import type { AttributeScalar } from '../../heph/write/value.js';
import { define } from '../attributes.js';
import type { SpanValue } from '../attributes.js';
import { IS_BIGINT, IS_BOOLEAN, MODIFIER_BYTES, RESERVED } from '../layout.js';

/** Names that may follow the same names. */
const MOST_NEXT = 4;
/** Lists of names in a thread. Names are data: without a bound their lists would grow for ever. */
const MOST_LISTS = 1024;
/** Characters of a name. */
const LONGEST_NAME = 256;

let lists = 0;
/** Lists of an earlier generation lead nowhere. */
let generation = 0;

/** Names of the attributes that an open span has in its slot alone, and what follows them. */
export class HeldNames {
  readonly names: readonly string[];
  /** The last name as it is recorded: in words, of which the last has bytes that are not of it. */
  readonly words: readonly number[];
  readonly nameBytes: number;
  /** Most bytes of the last attribute, unless its value is a text. */
  readonly mostBytes: number;
  /** An end whose number has another name. */
  newTo: object | undefined = undefined;
  /** Whether that end's text has another name, too. */
  hasNoText = false;
  #generation = generation;
  /** The name that was last sought, and whether it is among the names. */
  #sought = '';
  #isFound = false;
  #last: HeldNames | undefined = undefined;
  #lastName: string | undefined = undefined;
  #next: HeldNames[] = [];
  /** A name that came once: it gets a list when it comes twice in a row. */
  #candidate: string | undefined = undefined;

  constructor(names: readonly string[]) {
    this.names = names;
    const name = names.at(-1) ?? '';
    const recorded = prefixed(name.startsWith(RESERVED) ? RESERVED + name : name);
    this.nameBytes = recorded.length;
    const padded = Buffer.concat([recorded, Buffer.alloc(-recorded.length & 3)]);
    this.words = Array.from({ length: padded.length / 4 }, (_, i) => padded.readInt32BE(4 * i));
    this.mostBytes = padded.length + 9 + MODIFIER_BYTES;
  }

  has(name: string): boolean {
    if (this.#sought !== name) {
      this.#sought = name;
      this.#isFound = this.names.includes(name);
    }
    return this.#isFound;
  }

  /** The names with one more; undefined if it is among them, or comes rarely. */
  with(name: string): HeldNames | undefined {
    if (this.#lastName === name && this.#generation === generation) return this.#last;
    return this.#find(name);
  }

  #find(name: string): HeldNames | undefined {
    if (this.#generation !== generation) {
      this.#generation = generation;
      this.#next = [];
    }
    let found = this.#next.find(({ names }) => names.at(-1) === name);
    if (found === undefined) {
      if (this.#candidate !== name) {
        this.#candidate = name;
        return undefined;
      }
      const { names } = this;
      const isFull = this.#next.length >= MOST_NEXT || names.length >= MAX_NAMES;
      if (isFull || name.length > LONGEST_NAME || names.includes(name)) return undefined;
      if (lists === MOST_LISTS) {
        lists = 0;
        generation++;
        return undefined;
      }
      lists++;
      found = new HeldNames([...names, name]);
      this.#next.push(found);
    }
    this.#last = found;
    this.#lastName = name;
    return found;
  }
}

function writeModifier(view: DataView, bytes: Buffer, at: number, name: string): number {
  return writeUntyped(view, bytes, writeText(view, bytes, at, name), '');
}

/** Writes the last attribute of a list; returns the offset after it. There must be room. */
export function writeHeld(
  view: DataView,
  bytes: Buffer,
  at: number,
  { nameBytes, words }: HeldNames,
  value: AttributeScalar,
): number {
  for (let i = 0; i < words.length; i++) view.setInt32(at + 4 * i, words[i]!);
  const next = writeUntyped(view, bytes, at + nameBytes, value);
  if (typeof value === 'boolean') return writeModifier(view, bytes, next, IS_BOOLEAN);
  if (typeof value === 'bigint') return writeModifier(view, bytes, next, IS_BIGINT);
  return next;
}

/** Reads attributes that were written from values of one element each. */
export function readHeld(
  view: DataView,
  bytes: Buffer,
  from: number,
  to: number,
): Record<string, SpanValue> {
  const read: Record<string, SpanValue> = {};
  let at = from;
  const text = (): string => {
    const start = at + 2;
    at = start + view.getUint16(at);
    return bytes.toString('utf8', start, at);
  };
  let last = '';
  while (at < to) {
    const name = text();
    const type = view.getUint8(at++);
    let value: SpanValue;
    if (type === TYPE_BYTES.string) {
      value = text();
    } else {
      if (type === TYPE_BYTES.f64) value = view.getFloat64(at);
      else value = type === TYPE_BYTES.i64 ? view.getBigInt64(at) : view.getBigUint64(at);
      at += 8;
    }
    if (name === IS_BOOLEAN) {
      define(read, last, read[last] === 1);
    } else if (name === IS_BIGINT) {
      define(read, last, BigInt(read[last] as number | bigint));
    } else {
      last = name.startsWith(RESERVED) ? name.slice(RESERVED.length) : name;
      define(read, last, typeof value === 'bigint' ? exact(value) : value);
    }
  }
  return read;
}

/** An integer as a number, unless that has not all of its digits. */
function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
