import { buildEmitter } from '../../core/ring/emitter-builder.js';
import {
  DESCRIPTION_OFFSET,
  SIZE_OFFSET,
  SUBSTREAM_OFFSET,
  TYPE_STRING,
  TYPE_U64,
} from '../../heph/layout.js';
import { constantStores, prefixed } from '../../heph/write/constant-bytes.js';
import { writeHead, writeText, writeUntyped } from '../../heph/write/encoder.js';
import { measureValue } from '../../heph/write/event-shapes.js';
import type { ShapeCompiler } from '../../heph/write/event-shapes.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
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
} from '../layout.js';
import type { Span } from '../span.js';
import type { SpanOutput } from './span-output.js';

/** Records a span without events, links and other extras. */
export type SpanEmitter = (span: Span) => void;

/** Bounds of the constants in an emitter. */
const MAX_CONSTANT_BYTES = 2048;
const TYPE = Buffer.of(TYPE_U64);
/** Bytes of an attribute with a name of two bytes and a word. */
const IDENTITY_ATTRIBUTE_BYTES = 13;

/** The ids and flags of a span: names, and the two words that follow each. */
const IDENTITY: readonly (readonly [name: string, high: string, low: string])[] = [
  [TRACE_HIGH, 'span.t0', 'span.t1'],
  [SPAN_ID, 'span.s0', 'span.s1'],
  [PARENT_ID, 'span.p0', 'span.p1'],
  [FLAGS, 'span.scope', `span.flags | (output.resource << ${RESOURCE_SHIFT})`],
];

function modifier(name: string): string {
  const bytes = Buffer.concat([prefixed(name), Buffer.of(TYPE_STRING, 0, 0)]);
  return `${constantStores(bytes, 'at').join(' ')} at += ${MODIFIER_BYTES};`;
}

/** Statements: store a value and its type, and move `at` past them. */
function writeValueAt(value: string): string {
  return `if (typeof ${value} === 'string') {
      view.setUint8(at, ${TYPE_STRING});
      at = writeText(view, bytes, at + 1, ${value});
    } else if (typeof ${value} === 'number' && ${value} >>> 0 === ${value}) {
      view.setUint8(at, ${TYPE_U64});
      view.setUint32(at + 1, 0);
      view.setUint32(at + 5, ${value});
      at += 9;
    } else {
      at = writeOther(view, bytes, at, ${value});
    }`;
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

/** A compiler of emitters for the spans of a thread. */
export function spanShapeCompiler(output: SpanOutput): ShapeCompiler<SpanEmitter> {
  return (trace, description, names) => {
    const head = prefixed(description);
    const texts = names.map((name) => prefixed(name.startsWith(RESERVED) ? RESERVED + name : name));
    const constantBytes = Buffer.concat([head, ...texts]).length;
    if (constantBytes > MAX_CONSTANT_BYTES) return undefined;
    const { packetLimit, ring } = trace;
    // Of each value its type, eight bytes or a length, at most three bytes a character, and a modifier.
    const fixedBytes =
      DESCRIPTION_OFFSET +
      constantBytes +
      IDENTITY.length * IDENTITY_ATTRIBUTE_BYTES +
      (9 + MODIFIER_BYTES) * names.length;
    const mostCharacters = Math.min(
      SURELY_SHORT,
      Math.floor((ring.longestRecord - fixedBytes) / 3),
    );
    const values = names.map((_, i) => `v${i}`);
    return buildEmitter<Parameters<SpanEmitter>>(
      trace,
      {
        name: description,
        parameters: ['span', ...values],
        scope: {
          counter: output.stream.counter,
          isUsual,
          output,
          writeHead,
          writeText,
          writeUntyped,
          ...Object.fromEntries(names.map((name, i) => [`n${i}`, name])),
        },
        functions: WRITE_OTHER,
        entry: {
          parameters: ['span'],
          prepare:
            names.length === 0
              ? ''
              : `const { attributes } = span;
  ${values.map((value, i) => `const ${value} = attributes[n${i}];`).join('\n  ')}`,
          plainArguments: ['span'],
        },
        prepare: `let characters = 0;
  let areUsual = true;
  ${values.map(measureValue).join('\n  ')}`,
        test: `areUsual && characters <= ${mostCharacters} && span.start >= 0 && span.start <= stamp[0]`,
        bytes: `${fixedBytes} + 3 * characters`,
        write: `const number = counter[0];
  writeHead(view, start, ${output.stream.id}, number, span.start);
  view.setInt32(start + ${SUBSTREAM_OFFSET}, span.t2);
  view.setInt32(start + ${SUBSTREAM_OFFSET + 4}, span.t3);
  ${writeIdentity(head).join('\n  ')}
  ${values.map((value, i) => `if (${value} !== undefined) {\n    ${constantStores(texts[i]!, 'at').join('\n    ')}\n    at += ${texts[i]!.length};\n    ${writeValueAt(value)}\n  }`).join('\n  ')}
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
