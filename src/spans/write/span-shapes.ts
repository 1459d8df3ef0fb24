import { compile } from '../../core/ring/compile.js';
import { buildEmitter } from '../../core/ring/emitter-builder.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import {
  DESCRIPTION_OFFSET,
  END_OFFSET,
  SIZE_OFFSET,
  SUBSTREAM_OFFSET,
  TYPE_STRING,
  TYPE_U64,
} from '../../heph/layout.js';
import { constantStores, prefixed } from '../../heph/write/constant-bytes.js';
import { writeHead, writeText, writeUntyped } from '../../heph/write/encoder.js';
import { measureValue, writeValueAt } from '../../heph/write/event-shapes.js';
import type { ShapeCompiler } from '../../heph/write/event-shapes.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import type { Stream } from '../../heph/write/stream.js';
import { SURELY_SHORT } from '../../heph/write/value.js';
import {
  FLAGS,
  IS_BIGINT,
  IS_BOOLEAN,
  MODIFIER_BYTES,
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
import { HeldNames } from './held-attributes.js';
import type { Instant } from '../time.js';

/** What the compilers need of the output of a thread. */
export interface ShapedSpans {
  readonly stream: Stream;
  /** The number of the resource; 0: it could not be defined. */
  readonly resource: number;
  /** Records a span of any content. */
  recordAny(span: Span, endTime: Instant | undefined): void;
}

/** Records a span without events, links and other extras. */
export type SpanEmitter = (span: Span) => void;

/**
 * Writes an open span to its place; 0: it may not fit. A span without attributes of its own gets the names of these,
 * or these.
 */
export type OpenSpanWriter = (
  span: Span,
  at: number,
  attributes: SpanAttributes | undefined,
) => number;

/** Bounds of the constants in an emitter. */
const MAX_CONSTANT_BYTES = 2048;
/** Not the last number that was given: see OpenRecords::put_ended. */
const NO_NUMBER = 0xffff_fffe;
const TYPE = Buffer.of(TYPE_U64);
/** Bytes of an attribute with a name of two bytes and a word. */
const IDENTITY_ATTRIBUTE_BYTES = 13;

/** The ids and flags of a span: names, and the two words that follow each. */
const IDENTITY: readonly (readonly [name: string, high: string, low: string])[] = [
  [TRACE_HIGH, 'span.t0', 'span.t1'],
  [SPAN_ID, 'span.s0', 'span.s1'],
  [PARENT_ID, 'span.p0', 'span.p1'],
  [FLAGS, 'span.scope', `span.flags | unfinished | (output.resource << ${RESOURCE_SHIFT})`],
];

function modifier(name: string): string {
  const bytes = Buffer.concat([prefixed(name), Buffer.of(TYPE_STRING, 0, 0)]);
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

/** Statements: store a constant, then the words of the identity, and declare `at`. */
function writeIdentity(description: Buffer): string[] {
  const statements = [`let at = start + ${DESCRIPTION_OFFSET};`];
  let before = description;
  for (const [name, high, low] of IDENTITY) {
    const constant = Buffer.concat([before, prefixed(name), TYPE]);
    before = Buffer.alloc(0);
    statements.push(
      ...constantStores(constant, 'at'),
      `view.setInt32(at + ${constant.length}, ${high});`,
      `view.setInt32(at + ${constant.length + 4}, ${low});`,
      `at += ${constant.length + 8};`,
    );
  }
  return statements;
}

/** The texts of what writes a span with certain attributes. */
interface SpanText {
  /** Variables for the values of the attributes. */
  values: readonly string[];
  scope: Record<string, unknown>;
  /** Statements: read the values; `areUsual` and `characters` of them. */
  read: string;
  measure: string;
  /** Statements: write everything but counter, size and end at `start`, and declare `at`. */
  write: string;
  /** Bytes of a span whose values have no characters. */
  fixedBytes: number;
}

function spanText(
  output: ShapedSpans,
  description: string,
  names: readonly string[],
): SpanText | undefined {
  const head = prefixed(description);
  const texts = names.map((name) => prefixed(name.startsWith(RESERVED) ? RESERVED + name : name));
  const constantBytes = Buffer.concat([head, ...texts]).length;
  if (constantBytes > MAX_CONSTANT_BYTES) return undefined;
  const values = names.map((_, i) => `v${i}`);
  return {
    values,
    scope: {
      isUsual,
      output,
      writeHead,
      writeText,
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
    write: `view.setInt32(start + ${SUBSTREAM_OFFSET}, span.t2);
  view.setInt32(start + ${SUBSTREAM_OFFSET + 4}, span.t3);
  ${writeIdentity(head).join('\n  ')}
  ${values.map((value, i) => `if (${value} !== undefined) {\n    ${constantStores(texts[i]!, 'at').join('\n    ')}\n    at += ${texts[i]!.length};\n    ${writeValueAt(value, 'writeOther')}\n  }`).join('\n  ')}`,
    // Of each value its type, eight bytes or a length, at most three bytes a character, and a modifier.
    fixedBytes:
      DESCRIPTION_OFFSET +
      constantBytes +
      IDENTITY.length * IDENTITY_ATTRIBUTE_BYTES +
      (9 + MODIFIER_BYTES) * names.length,
  };
}

/** An object of what was read. */
function ownOf(names: readonly string[], values: readonly SpanValue[]): Record<string, SpanValue> {
  const own: Record<string, SpanValue> = {};
  names.forEach((name, i) => {
    define(own, name, values[i]);
  });
  return own;
}

/** A compiler of what writes the spans of a thread that are open. */
export function openSpanCompiler(
  output: ShapedSpans,
  table: OpenRecords,
): ShapeCompiler<OpenSpanWriter> {
  const { bytes, longest, view } = table;
  return (_, description, names) => {
    const text = spanText(output, description, names);
    if (text === undefined) return undefined;
    const scope = {
      ...text.scope,
      bytes,
      view,
      unfinished: UNFINISHED,
      held: new HeldNames(names),
      namesOf: names,
      ownOf,
    };
    const body = `${WRITE_OTHER}
return function writeOpen(span, start, attributes) {
  ${text.read}
  ${text.measure}
  if (!areUsual || ${text.fixedBytes} + 3 * characters > ${longest} || !(span.start >= 0)) {
    if (span.own === undefined) span.own = ownOf(namesOf, [${text.values.join(', ')}]);
    return 0;
  }
  writeHead(view, start, ${output.stream.id}, ${NO_NUMBER}, span.start);
  view.setUint32(start + ${END_OFFSET}, span.start * ${2 ** -32});
  view.setUint32(start + ${END_OFFSET + 4}, span.start);
  ${text.write}
  view.setUint32(start + ${SIZE_OFFSET}, at - start);
  span.heldNames = held;
  return at - start;
};`;
    return compile(description, scope, body) as OpenSpanWriter;
  };
}

/** A compiler of emitters for the spans of a thread. */
export function spanShapeCompiler(output: ShapedSpans): ShapeCompiler<SpanEmitter> {
  return (trace, description, names) => {
    const text = spanText(output, description, names);
    if (text === undefined) return undefined;
    const { fixedBytes, values } = text;
    const { packetLimit, ring } = trace;
    const mostCharacters = Math.min(
      SURELY_SHORT,
      Math.floor((ring.longestRecord - fixedBytes) / 3),
    );
    return buildEmitter<Parameters<SpanEmitter>>(
      trace,
      {
        name: description,
        parameters: ['span', ...values],
        scope: { ...text.scope, counter: output.stream.counter, unfinished: 0 },
        functions: WRITE_OTHER,
        entry: {
          parameters: ['span'],
          prepare: `const attributes = span.own;
  ${text.read}`,
          plainArguments: ['span'],
        },
        prepare: text.measure,
        test: `areUsual && characters <= ${mostCharacters} && span.start >= 0 && span.start <= stamp[0]`,
        bytes: `${fixedBytes} + 3 * characters`,
        write: `const number = counter[0];
  writeHead(view, start, ${output.stream.id}, number, span.start);
  ${text.write}
  ${packetLimit === Infinity ? '' : `if (at - start > ${packetLimit}) return unusual(span);`}
  counter[0] = number + 1;
  view.setUint32(start + ${SIZE_OFFSET}, at - start);`,
        size: 'at - start',
      },
      (span) => {
        output.recordAny(span, undefined);
      },
    );
  };
}
