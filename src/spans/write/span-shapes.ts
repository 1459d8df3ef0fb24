import { compile } from '../../core/ring/compile.js';
import {
  copyReserved,
  HAS_SLOT,
  slotWriter,
  commitSlot,
  publishSlot,
  slotLength,
  takeSlot,
} from '../../core/ring/compiled-slots.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import {
  DESCRIPTION_OFFSET,
  END_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../heph/layout.js';
import {
  constantStores,
  headStores,
  measureValue,
  attributeHead,
  prefixed,
  timeStores,
  writeValueAt,
} from '../../heph/write/event-text.js';
import { SLOT_TEXT_SCOPE, WRITE_SLOT_TEXT } from '../../core/utf8.js';
import { writeUntyped } from '../../heph/write/encoder.js';
import type { ShapeCompiler } from '../../heph/write/event-shapes.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import type { Stream } from '../../heph/write/stream.js';
import {
  FLAGS,
  FLAGS_AFTER_NAME,
  IDENTITY_BYTES,
  IS_BIGINT,
  IS_BOOLEAN,
  MODIFIER_BYTES,
  OWN_FLAGS,
  PARENT_ID,
  RESERVED,
  RESOURCE_SHIFT,
  SPAN_ID,
  TRACE_HIGH,
  UNFINISHED,
} from '../layout.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { define } from '../attributes.js';
import type { Span } from '../span.js';
import { checkNames, NAMES_SCOPE } from './checked-names.js';

/** What the compilers need of the output of a thread. */
export interface ShapedSpans {
  readonly stream: Stream;
  /** The number of the resource; 0: it could not be defined. */
  readonly resource: number;
}

/**
 * Writes an open span to a slot that it takes; -1: it has none, and has the attributes as its own; or OTHER_NAMES.
 */
export type OpenSpanWriter = (span: Span, attributes: SpanAttributes | undefined) => number;

/** What spans begin with that differ in ids and times, and perhaps in one text. */
export interface TemplateRecord {
  /** The record of such a span with an empty text, and its bytes; undefined, and 0: it is too long. */
  readonly record: Buffer | undefined;
  readonly bytes: number;
  /** The reserved slot that has it; -1: none. */
  readonly copied: number;
  /** Its number among the writers of open records. */
  readonly writer: number;
  /** Where ids and flags begin in it. */
  readonly idsAt: number;
  /** Whether the last attribute ends with the text. */
  readonly hasText: boolean;
  /** Bytes of its value before the text, which are in the record. */
  readonly prefixBytes: number;
  /** How many attributes it has. */
  readonly count: number;
}

/** As `OpenSpanWriter`, of a span that starts now, and that a template describes but for ids and text. */
export type TemplateWriter = (span: Span, template: TemplateRecord, text: string) => number;

/** Bounds of the constants in an emitter. */
const MAX_CONSTANT_BYTES = 2048;
/** Not the last number that was given: see OpenRecords::put_ended. */
const NO_NUMBER = 0xffff_fffe;

/** The ids and flags of a span: names, and the two words that follow each. */
const IDENTITY: readonly (readonly [name: string, high: string, low: string])[] = [
  [TRACE_HIGH, 'span.t0', 'span.t1'],
  [SPAN_ID, 'span.s0', 'span.s1'],
  [PARENT_ID, 'span.p0', 'span.p1'],
  [
    FLAGS,
    'span.scope',
    `(span.flags & ${OWN_FLAGS}) | unfinished | (output.resource << ${RESOURCE_SHIFT})`,
  ],
];

function modifier(name: string): string {
  const bytes = Buffer.concat([attributeHead(name, 'string'), Buffer.of(0, 0)]);
  return `${constantStores(bytes, 'at').join(' ')} at += ${MODIFIER_BYTES};`;
}

/** Called by the emitters for what is no string and no u32. */
const WRITE_OTHER = `function writeOther(view, bytes, at, value) {
  const type = typeof value;
  at = writeUntyped(view, bytes, at, value);
  if (type === 'boolean') { ${modifier(IS_BOOLEAN)} }
  else if (type === 'bigint') { ${modifier(IS_BIGINT)} }
  return at;
}`;

/** Statements that store the words of the identity, and those that store the constants before and between them. */
function identityStores(
  description: Buffer,
  base = 'start',
  from = DESCRIPTION_OFFSET,
): { constants: string[]; words: string[] } {
  const constants: string[] = [];
  const words = [
    `view.setInt32(start + ${SUBSTREAM_OFFSET}, span.t2);`,
    `view.setInt32(start + ${SUBSTREAM_OFFSET + 4}, span.t3);`,
  ];
  let at = from;
  let before = description;
  for (const [name, high, low] of IDENTITY) {
    const constant = Buffer.concat([before, attributeHead(name, 'u64')]);
    before = Buffer.alloc(0);
    constants.push(...constantStores(constant, `${base} + ${at}`));
    at += constant.length + 8;
    words.push(
      `view.setInt32(${base} + ${at - 8}, ${high});`,
      `view.setInt32(${base} + ${at - 4}, ${low});`,
    );
  }
  return { constants, words };
}

/** The texts of what writes a span with certain attributes. */
interface SpanText {
  /** Variables for the values of the attributes. */
  values: readonly string[];
  scope: Record<string, unknown>;
  /** Statements: read the values; `areUsual` and `characters` of them. */
  read: string;
  measure: string;
  /** Statements: store at `start` what is the same in all spans that this text writes, but for the head. */
  writeConstants: string;
  /** Statements: write everything else but counter, times and size, and declare `at`. */
  write: string;
  /** Bytes of a span whose values have no characters. */
  fixedBytes: number;
}

function spanText(
  output: ShapedSpans,
  description: string,
  names: readonly string[],
  table: OpenRecords,
): SpanText | undefined {
  const head = prefixed(description);
  const texts = names.map((name) => prefixed(name.startsWith(RESERVED) ? RESERVED + name : name));
  const constantBytes = Buffer.concat([head, ...texts]).length;
  if (constantBytes > MAX_CONSTANT_BYTES) return undefined;
  const values = names.map((_, i) => `v${i}`);
  const identity = identityStores(head);
  return {
    values,
    scope: {
      isUsual,
      output,
      writeUntyped,
      ...Object.fromEntries(names.map((name, i) => [`n${i}`, name])),
    },
    read:
      names.length === 0
        ? ''
        : values.map((value, i) => `const ${value} = attributes[n${i}];`).join('\n  '),
    measure: `let characters = 0;
  let areUsual = true;
  ${values.map(measureValue).join('\n  ')}`,
    writeConstants: identity.constants.join('\n    '),
    write: `${identity.words.join('\n  ')}
  let at = start + ${DESCRIPTION_OFFSET + head.length + IDENTITY_BYTES};
  ${values.map((value, i) => attributeStores(value, texts[i]!, i > 0, table)).join('\n  ')}`,
    // Of each value its type, eight bytes or a length, at most three bytes a character, and a modifier.
    fixedBytes:
      DESCRIPTION_OFFSET + constantBytes + IDENTITY_BYTES + (9 + MODIFIER_BYTES) * names.length,
  };
}

/** Statements: store an attribute unless it is undefined. */
function attributeStores(
  value: string,
  name: Buffer,
  isFurther: boolean,
  { mask }: OpenRecords,
): string {
  // V8 knows by the mask that a slot has room after `at`, as it does of the first attribute.
  const masked = isFurther ? `at &= ${mask};` : '';
  const writeText = (at: string): string => `writeSlotText(${at}, ${value})`;
  return `if (${value} !== undefined) {
    ${[masked, ...constantStores(name, 'at')].join('\n    ')}
    at += ${name.length};
    ${writeValueAt(value, 'writeOther', writeText)}
  }`;
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
 * A compiler of what writes the spans of a thread that are open.
 *
 * @param canCommit whether a record of the table can become the final one: then a span needs no copy of its attributes.
 */
export function openSpanCompiler(
  output: ShapedSpans,
  table: OpenRecords,
  canCommit: boolean,
): ShapeCompiler<OpenSpanWriter> {
  const { bytes, longest, view } = table;
  return (trace, description, names) => {
    const text = spanText(output, description, names, table);
    if (text === undefined) return undefined;
    const scope = {
      ...text.scope,
      ...SLOT_TEXT_SCOPE,
      ...table.constants,
      bytes,
      view,
      stamp: trace.ring.stamp,
      unfinished: UNFINISHED,
      namesOf: names,
      ownOf,
      ...NAMES_SCOPE,
    };
    const keepValues = `if (span.own === undefined) span.own = ownOf(namesOf, [${text.values.join(', ')}]);`;
    const writer = table.newWriter();
    const body = `${WRITE_OTHER}
${WRITE_SLOT_TEXT}
return function writeOpen(span, attributes) {
  ${checkNames(names)}
  ${text.read}
  ${text.measure}
  const time = span.start;
  if (!areUsual || ${text.fixedBytes} + 3 * characters > ${longest} || !(time >= 0 && time <= stamp[0]) || !(${HAS_SLOT})) {
    ${keepValues}
    return -1;
  }
  ${takeSlot('start', table)}
  if (${slotWriter('start')} !== ${writer}) {
    ${slotWriter('start')} = ${writer};
    ${headStores(output.stream.id, NO_NUMBER)}
    ${text.writeConstants}
  }
  ${timeStores('time', START_OFFSET, END_OFFSET)}
  ${text.write}
  const size = at - start;
  view.setInt32(start + ${SIZE_OFFSET}, size);
  ${publishSlot('start', 'size')}
  ${canCommit ? `span.isWhole = true; span.count = ${names.length};` : keepValues}
  return start;
};`;
    return compile(description, scope, body) as OpenSpanWriter;
  };
}

/** Records a span of which everything is in its slot at `at`, and frees the slot; false: the ring has no room. */
export type SlotEnd = (span: Span, at: number) => boolean;

/** Compiles what ends the spans of a thread of which everything is in their slots. */
export function compileEnd(output: ShapedSpans, table: OpenRecords): SlotEnd {
  const { ring } = output.stream;
  const { pending, publishOpen } = ring;
  const scope = { ...table.constants, output, pending, publishOpen, ring, slotView: table.view };
  // V8's middle compiler makes a call of each unsigned number that is read.
  const nameBytes = `(slotView.getInt16(at + ${DESCRIPTION_OFFSET}) & 0xffff)`;
  const wordAt = `${DESCRIPTION_OFFSET + 2 + FLAGS_AFTER_NAME} + ${nameBytes}`;
  const word = `(span.flags & ${OWN_FLAGS}) | (output.resource << ${RESOURCE_SHIFT})`;
  const body = `return function endSlot(span, at) {
  const length = ${slotLength('at')};
  if (ring.free < length && !ring.makeRoom(length)) return false;
  ${commitSlot(ring, 'at', 'length', wordAt, word)}
  return true;
};`;
  return compile('end of a span', scope, body) as SlotEnd;
}

/** Whether a text of more than a third as many characters has at most `room` bytes. */
function fits(text: string, room: number): boolean {
  return text.length <= room && Buffer.byteLength(text) <= room;
}

/**
 * Compiles what writes the spans of templates: one function for all of them, for a program can have hundreds.
 *
 * @param canCommit whether a record of the table can become the final one.
 */
export function compileTemplates(
  output: ShapedSpans,
  table: OpenRecords,
  canCommit: boolean,
): TemplateWriter {
  const { bytes, longest, view } = table;
  const { beginOpen, stamp } = output.stream.ring;
  const scope = {
    ...table.constants,
    beginOpen,
    bytes,
    fits,
    output,
    stamp,
    unfinished: UNFINISHED,
    view,
    ...SLOT_TEXT_SCOPE,
  };
  const body = `${WRITE_SLOT_TEXT}
return function writeFrom(span, template, text) {
  let size = template.bytes;
  if (size === 0 || !(${HAS_SLOT})) return -1;
  const hasText = template.hasText === true;
  if (hasText && 3 * ('' + text).length > ${longest} - size && !fits(text, ${longest} - size)) return -1;
  ${takeSlot('start', table)}
  if (${slotWriter('start')} !== template.writer) {
    ${slotWriter('start')} = template.writer;
    const { copied } = template;
    if (copied === -1) bytes.set(template.record, start);
    else { ${copyReserved('start', 'copied', 'size')} }
  }
  beginOpen();
  const time = span.start = stamp[0];
  const ids = (start + template.idsAt) & ${table.mask};
  ${timeStores('time', START_OFFSET, END_OFFSET)}
  ${identityStores(Buffer.alloc(0), 'ids', 0).words.join('\n  ')}
  if (hasText) {
    const { prefixBytes } = template;
    const textAt = (start + size) & ${table.mask};
    const textBytes = writeSlotText(textAt, text);
    view.setInt16(textAt - prefixBytes - 2, prefixBytes + textBytes);
    size += textBytes;
    view.setInt32(start + ${SIZE_OFFSET}, size);
  }
  ${publishSlot('start', 'size')}
  ${canCommit ? 'span.isWhole = true; span.count = template.count;' : ''}
  return start;
};`;
  return compile('span of a template', scope, body) as TemplateWriter;
}
