import { compile } from '../../core/ring/compile.js';
import {
  copyReserved,
  HAS_SLOT,
  publishSlot,
  slotWriter,
  takeSlot,
} from '../../core/ring/compiled-slots.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import { SLOT_TEXT_SCOPE, WRITE_SLOT_TEXT } from '../../core/utf8.js';
import { END_OFFSET, START_OFFSET, SUBSTREAM_OFFSET } from '../../heph/layout.js';
import { writeUntyped } from '../../heph/write/encoder.js';
import { MAX_NAMES } from '../../heph/write/event-shapes.js';
import {
  attributeHead,
  constantStores,
  measureValue,
  prefixed,
  timeStores,
  writeValueAt,
} from '../../heph/write/event-text.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { define } from '../attributes.js';
import {
  IS_BIGINT,
  IS_BOOLEAN,
  MODIFIER_BYTES,
  OWN_FLAGS,
  RESERVED,
  RESOURCE_SHIFT,
  UNFINISHED,
} from '../layout.js';
import type { SlotOutput, StartWriter } from './prefix.js';

/** Of a `StartWriter`: the attributes have other names, of which it has read no value. */
export const OTHER_NAMES = -3;

/** Spans with the same attribute names before their writer is compiled, and lists of names that are counted. */
const SEEN_BEFORE_COMPILE = 50;
const MOST_LISTS = 256;
/** Compiling takes as long as some hundred spans without a writer: so many pay for it, but for the first ones. */
const SPANS_A_COMPILE = 1000;
const COMPILED_AT_FIRST = 64;
/** Bytes of all names of a list. */
const MOST_NAME_BYTES = 1024;
/** Names that are compared one by one, as constants. */
const FEW_NAMES = 8;
/** Bytes of the name of an id, and from one id to the next. */
const ID_HEAD_BYTES = 5;
const ID_BYTES = 13;

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { hasOwnProperty } = Object.prototype;

/** The words of the ids and flags, in the order of the record. */
const ID_WORDS = [
  ['span.t0', 'span.t1'],
  ['span.s0', 'span.s1'],
  ['span.p0', 'span.p1'],
  [
    'prefix.scopeWord',
    `(span.flags & ${OWN_FLAGS}) | ${UNFINISHED} | (output.resource << ${RESOURCE_SHIFT})`,
  ],
];

function modifier(name: string): string {
  const bytes = Buffer.concat([attributeHead(name, 'string'), Buffer.of(0, 0)]);
  return `${constantStores(bytes, 'at').join(' ')} at += ${MODIFIER_BYTES};`;
}

/** Called by the writers for what is no string and no u32. */
const WRITE_OTHER = `function writeOther(view, bytes, at, value) {
  const type = typeof value;
  at = writeUntyped(view, bytes, at, value);
  if (type === 'boolean') { ${modifier(IS_BOOLEAN)} }
  else if (type === 'bigint') { ${modifier(IS_BIGINT)} }
  return at;
}`;

/** Statements: return OTHER_NAMES unless the attributes have these names, in their order. They read no property. */
function checkNames(names: readonly string[]): string {
  const few = names
    .slice(0, FEW_NAMES)
    .map((_, i) => `if (count === ${i}) { if (name !== n${i}) return ${OTHER_NAMES}; } else `);
  const further =
    names.length > FEW_NAMES ? 'if (count < namesOf.length && name === namesOf[count]); else ' : '';
  return `let count = 0;
  for (const name in attributes) {
    if (!hasOwnProperty.call(attributes, name)) continue;
    ${few.join('')}${further}return ${OTHER_NAMES};
    count++;
  }
  if (count !== ${names.length}) return ${OTHER_NAMES};`;
}

/** Statements: store an attribute unless it is undefined. V8 knows by the mask that a slot has room after `at`. */
function attributeStores(value: string, name: string, mask: number): string {
  const text = prefixed(name.startsWith(RESERVED) ? RESERVED + name : name);
  return `if (${value} !== undefined) {
    at &= ${mask};
    ${constantStores(text, 'at').join('\n    ')}
    at += ${text.length};
    ${writeValueAt(value, 'writeOther', (to) => `writeSlotText(${to}, ${value})`)}
  }`;
}

/** Statements: declare whether the text fits, if there is one. */
const PLAIN_TEST = `const hasText = prefix.hasText === true;
  const isFit = !hasText || 3 * ('' + text).length <= room || fits(text, room);`;

/** Statements: store the text with which the last attribute of a prefix ends, if it ends with one. */
const TEXT_STORES = `if (hasText) {
    const { valueBytes } = prefix;
    const textBytes = writeSlotText(at, text);
    view.setInt16(at - valueBytes - 2, valueBytes + textBytes);
    at += textBytes;
  }`;

/** Whether a text of more than a third as many characters has at most `room` bytes. */
function fits(text: string, room: number): boolean {
  return text.length <= room && Buffer.byteLength(text) <= room;
}

/** An object of what was read. */
function ownOf(names: readonly string[], values: readonly SpanValue[]): Record<string, SpanValue> {
  const own: Record<string, SpanValue> = {};
  names.forEach((name, i) => {
    define(own, name, values[i]);
  });
  return own;
}

/**
 * The functions that write spans as they start, by the names of the attributes that they start with.
 *
 * @param isWhole whether a record of the table can become the final one: then a span needs no copy of its attributes.
 */
export class StartWriters {
  readonly #output: SlotOutput;
  readonly #table: OpenRecords;
  readonly #isWhole: boolean;
  /** By the names in their order: the writer, or how often they came. */
  readonly #known = new Map<string, StartWriter | number>();
  #credit = COMPILED_AT_FIRST * SPANS_A_COMPILE;
  /** That of spans without attributes of their own. */
  readonly plain: StartWriter;

  constructor(output: SlotOutput, table: OpenRecords, isWhole: boolean) {
    this.#output = output;
    this.#table = table;
    this.#isWhole = isWhole;
    this.plain = this.#compile([]);
  }

  /** The writer of spans with such attributes; undefined: they are rare. It reads no property. */
  of(attributes: SpanAttributes | undefined): StartWriter | undefined {
    const names: string[] = [];
    for (const name in attributes) {
      if (hasOwnProperty.call(attributes, name) && names.push(name) > MAX_NAMES) return undefined;
    }
    if (names.length === 0) return this.plain;
    const list = names.join('\n');
    if (list.length > MOST_NAME_BYTES) return undefined;
    const known = this.#known.get(list) ?? 0;
    this.#credit += 1;
    if (typeof known === 'function') return known;
    // Names are data.
    if (known === 0 && this.#known.size === MOST_LISTS) this.#known.clear();
    this.#known.set(list, known + 1);
    if (known + 1 < SEEN_BEFORE_COMPILE || this.#credit < SPANS_A_COMPILE) return undefined;
    this.#credit -= SPANS_A_COMPILE;
    const writer = this.#compile(names);
    this.#known.set(list, writer);
    return writer;
  }

  #compile(names: readonly string[]): StartWriter {
    const table = this.#table;
    const { bytes, longest, mask, view } = table;
    const { beginOpen, stamp } = this.#output.stream.ring;
    const values = names.map((_, i) => `v${i}`);
    // Of each value its type, eight bytes or a length, at most three bytes a character, and a modifier.
    const nameBytes = names.reduce((sum, name) => sum + 3 + 3 * name.length, 0);
    const most = nameBytes + (9 + MODIFIER_BYTES) * names.length;
    const scope = {
      ...Object.fromEntries(names.map((name, i) => [`n${i}`, name])),
      ...SLOT_TEXT_SCOPE,
      ...table.constants,
      beginOpen,
      bytes,
      fits,
      hasOwnProperty,
      isUsual,
      namesOf: names,
      output: this.#output,
      ownOf,
      stamp,
      view,
      writeUntyped,
    };
    const isPlain = names.length === 0;
    const keepValues = isPlain
      ? ''
      : `if (span.own === undefined) span.own = ownOf(namesOf, [${values.join(', ')}]);`;
    const idStores = ID_WORDS.map(
      ([high, low], i) => `view.setInt32(ids + ${ID_BYTES * i + ID_HEAD_BYTES}, ${high});
  view.setInt32(ids + ${ID_BYTES * i + ID_HEAD_BYTES + 4}, ${low});`,
    );
    const body = `${WRITE_OTHER}
${WRITE_SLOT_TEXT}
return function start(span, prefix, attributes, text) {
  ${checkNames(names)}
  ${values.map((value, i) => `const ${value} = attributes[n${i}];`).join('\n  ')}
  const size = prefix.bytes;
  const room = ${longest - most} - size;
  ${
    isPlain
      ? PLAIN_TEST
      : `let characters = 0;
  let areUsual = true;
  ${values.map(measureValue).join('\n  ')}
  const isFit = areUsual && 3 * characters <= room;`
  }
  if (!isFit || size === 0 || !(${HAS_SLOT})) {
    ${keepValues}
    return -1;
  }
  ${takeSlot('start', table)}
  if (${slotWriter('start')} !== prefix.number) {
    ${slotWriter('start')} = prefix.number;
    const { copied } = prefix;
    if (copied === -1) bytes.set(prefix.record, start);
    else { ${copyReserved('start', 'copied', 'size')} }
  }
  beginOpen();
  const time = span.start = stamp[0];
  const ids = (start + prefix.idsAt) & ${mask};
  ${timeStores('time', START_OFFSET, END_OFFSET)}
  view.setInt32(start + ${SUBSTREAM_OFFSET}, span.t2);
  view.setInt32(start + ${SUBSTREAM_OFFSET + 4}, span.t3);
  ${idStores.join('\n  ')}
  let at = (start + size) & ${mask};
  ${isPlain ? TEXT_STORES : values.map((value, i) => attributeStores(value, names[i]!, mask)).join('\n  ')}
  const length = at - start;
  ${publishSlot('start', 'length')}
  ${this.#isWhole ? `span.isWhole = true; span.count = prefix.count + ${names.length};` : keepValues}
  return start;
};`;
    return compile(`start ${names.join()}`, scope, body) as StartWriter;
  }
}
