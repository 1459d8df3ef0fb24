import { compile, mayCompile } from '../../core/ring/compile.js';
import { commitText, ringScope } from '../../core/ring/emitter-text.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import {
  textBound,
  valueBound,
  writeFloat,
  writeInteger,
  writeSubstream,
  writeText,
  writeValue,
} from './encoder.js';
import {
  COUNTER_OFFSET,
  DESCRIPTION_OFFSET,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
} from '../layout.js';
import type { ValueType } from '../packet.js';
import type { Stream, Timing } from './stream.js';
import { checkAttribute, checkSubstream, checkText, SURELY_SHORT, TYPE_BYTES } from './value.js';
import type { AttributeType } from './value.js';

/** Names and types of a span's attributes: an object, or a list of pairs. */
export type SpanSchema =
  | Readonly<Record<string, AttributeType>>
  | readonly (readonly [name: string, type: AttributeType])[];

/** What `finish` takes for each attribute type. */
interface ValueTypes {
  u64: number | bigint | boolean;
  i64: number | bigint | boolean;
  f64: number;
  string: string;
}

type ValueOf<Type> = Type extends `${infer Each extends ValueType}[]`
  ? ArrayLike<ValueTypes[Each]>
  : Type extends ValueType
    ? ValueTypes[Type]
    : never;

/**
 * The values of a span's attributes. TypeScript does not know the order of an object's keys, so of
 * an object it checks the number and kinds of values, and Tracewright the rest when they come.
 */
export type SpanValues<Schema extends SpanSchema> = Schema extends readonly (readonly [
  string,
  AttributeType,
])[]
  ? {
      -readonly [Index in keyof Schema]: Schema[Index] extends readonly [string, infer Type]
        ? ValueOf<Type>
        : never;
    }
  : ValueOf<Schema[keyof Schema]>[];

/** A compiled event: its description and the names and types of its attributes are fixed. */
export interface Span<Schema extends SpanSchema = SpanSchema> {
  /** Records the event in substream 0; see `Stream.finishTrace`. */
  finish(timing: Timing | undefined, ...values: SpanValues<Schema>): void;
  /** Records the event in a substream, 0 to 2^64 - 1. */
  finishIn(
    substream: number | bigint,
    timing: Timing | undefined,
    ...values: SpanValues<Schema>
  ): void;
}

interface Field {
  name: string;
  type: AttributeType;
}

/** A function may have 65,534 of them; long before, compiling costs more than it saves. */
const MOST_PARAMETERS = 256;

function fieldsOf(schema: unknown): Field[] {
  if (typeof schema !== 'object' || schema === null) {
    throw wrongType('schema', schema, 'an object of names and types, or a list of pairs');
  }
  const entries: unknown[] = Array.isArray(schema) ? schema : Object.entries(schema);
  return entries.map((entry) => {
    if (!Array.isArray(entry)) throw wrongType('schema', entry, 'a pair of a name and a type');
    const [name, type] = entry as [unknown, unknown];
    checkText('attribute name', name);
    if (!Array.isArray(schema) && /^(0|[1-9]\d*)$/.test(name as string)) {
      throw outOfRange(
        'attribute name',
        name,
        'no integer: objects sort those; use a list of pairs',
      );
    }
    if (typeof type !== 'string' || !Object.hasOwn(TYPE_BYTES, type)) {
      throw outOfRange(`type of ${String(name)}`, type, Object.keys(TYPE_BYTES).join(', '));
    }
    return { name: name as string, type: type as AttributeType };
  });
}

/**
 * Makes the function that records one kind of event.
 *
 * @see Stream.span, which states the contract.
 */
export function compileSpan<Schema extends SpanSchema>(
  stream: Stream,
  description: string,
  schema: Schema,
): Span<Schema> {
  checkText('description', description);
  const fields = fieldsOf(schema);
  return mayCompile() && fields.length <= MOST_PARAMETERS
    ? compiledSpan(stream, description, fields)
    : plainSpan(stream, description, fields);
}

function checkValues(fields: readonly Field[], values: readonly unknown[]): void {
  fields.forEach(({ name, type }, i) => {
    checkAttribute(name, type, values[i]);
  });
}

/** Records any event of the span, however large, through the stream's plain encoder. */
function recordPlain(
  stream: Stream,
  description: string,
  fields: readonly Field[],
  substream: number | bigint,
  timing: number,
  values: readonly unknown[],
): void {
  checkValues(fields, values);
  let bound = DESCRIPTION_OFFSET + textBound(description);
  const attributes = fields.map(({ name, type }, i) => {
    const value = values[i] as Parameters<typeof writeValue>[4];
    bound += textBound(name) + 1 + valueBound(type, value);
    return { name, type, value };
  });
  stream.record(timing, description, attributes, substream, bound);
}

/** The span where functions may not be made from text: right, but slower. */
function plainSpan(stream: Stream, description: string, fields: readonly Field[]): Span {
  const finishIn: Span['finishIn'] = (substream, timing, ...values) => {
    if (timing === undefined) return;
    if (typeof timing !== 'number' || !(timing >= 0) || timing > stream.ring.stamp[0]!) {
      stream.checkTiming(timing);
    }
    checkSubstream(substream);
    recordPlain(stream, description, fields, substream, timing, values);
  };
  return {
    finishIn,
    finish(timing, ...values) {
      finishIn(0, timing, ...values);
    },
  };
}

/** Bytes that are always the same, as stores of constants, four bytes at a time. */
function constantStores(bytes: Buffer, base: string): string[] {
  const stores: string[] = [];
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    stores.push(`view.setUint32(${base} + ${at}, ${bytes.readUInt32BE(at)});`);
  }
  if (at + 2 <= bytes.length) {
    stores.push(`view.setUint16(${base} + ${at}, ${bytes.readUInt16BE(at)});`);
    at += 2;
  }
  if (at < bytes.length) stores.push(`view.setUint8(${base} + ${at}, ${bytes.readUInt8(at)});`);
  return stores;
}

function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The test that the usual value passes; any other is looked at closely. */
function quickTest(type: AttributeType, value: string): string {
  switch (type) {
    case 'string':
      return `typeof ${value} === 'string' && ${value}.length <= ${SURELY_SHORT}`;
    case 'u64':
      return `typeof ${value} === 'number' && ${value} >>> 0 === ${value}`;
    case 'i64':
      return `typeof ${value} === 'number' && (${value} | 0) === ${value}`;
    case 'f64':
      return `typeof ${value} === 'number'`;
    default:
      return 'false';
  }
}

function write(type: AttributeType, value: string): string {
  switch (type) {
    case 'string':
      return `at = writeText(view, bytes, at, ${value});`;
    case 'u64':
      return `if (${value}_quick) {
    view.setUint32(at, 0);
    view.setUint32(at + 4, ${value});
    at += 8;
  } else at = writeInteger(view, at, ${value});`;
    case 'i64':
      return `if (${value}_quick) {
    view.setInt32(at, ${value} >> 31);
    view.setInt32(at + 4, ${value});
    at += 8;
  } else at = writeInteger(view, at, ${value});`;
    case 'f64':
      return `at = writeFloat(view, at, ${value});`;
    default:
      return `at = writeValue(view, bytes, at, '${type}', ${value});`;
  }
}

function compiledSpan(stream: Stream, description: string, fields: readonly Field[]): Span {
  const names = fields.map((_, i) => `v${i}`);
  const list = `[${names.join(', ')}]`;
  const text = prefixed(description);
  const fixedBytes =
    DESCRIPTION_OFFSET +
    text.length +
    fields.reduce(
      (sum, { name, type }) => sum + prefixed(name).length + 1 + (type === 'string' ? 2 : 8),
      0,
    );
  const bound = [
    String(fixedBytes),
    ...fields.flatMap(({ type }, i) =>
      type === 'string'
        ? [`3 * v${i}.length`]
        : type.endsWith('[]')
          ? [`valueBound('${type}', v${i})`]
          : [],
    ),
  ].join(' + ');

  // The description and the first attribute's name follow one another: one run of constants.
  let constant = text;
  let base = `start + ${DESCRIPTION_OFFSET}`;
  const body: string[] = [];
  fields.forEach(({ name, type }, i) => {
    constant = Buffer.concat([constant, prefixed(name), Buffer.of(TYPE_BYTES[type])]);
    body.push(...constantStores(constant, base));
    body.push(
      i === 0
        ? `let at = start + ${DESCRIPTION_OFFSET + constant.length};`
        : `at += ${constant.length};`,
      write(type, `v${i}`),
    );
    constant = Buffer.alloc(0);
    base = 'at';
  });
  if (fields.length === 0) {
    body.push(
      ...constantStores(constant, base),
      `const at = start + ${DESCRIPTION_OFFSET + constant.length};`,
    );
  }

  const record = (named: string, parameter: string, substream: string[]) => `
function ${named}(${[parameter, ...names].filter((name) => name !== '').join(', ')}) {
  const timing = started[0];
  if (!(timing >= 0) || timing > stamp[0]) stream.checkTiming(timing);
  ${parameter === '' ? '' : `if (!(typeof substream === 'number' && substream >>> 0 === substream)) checkSubstream(substream);`}
  ${fields.map(({ type }, i) => `const v${i}_quick = ${quickTest(type, `v${i}`)};`).join('\n  ')}
  ${names.length === 0 ? '' : `if (!(${names.map((name) => `${name}_quick`).join(' && ')})) checkValues(fields, ${list});`}
  const bound = ${bound};
  if (ring.free < bound) {
    if (bound > ${Math.min(stream.ring.longestRecord, stream.trace.packetLimit)}) {
      recordPlain(stream, description, fields, ${parameter === '' ? '0' : parameter}, timing, ${list});
      return;
    }
    if (!ring.makeRoom(bound)) {
      counter[0]++;
      return;
    }
  }
  const start = ring.position;
  const number = counter[0];
  counter[0] = number + 1;
  view.setUint32(start + ${MAGIC_OFFSET}, ${EVENT_MAGIC});
  view.setUint32(start + ${STREAM_OFFSET}, ${stream.id});
  view.setUint32(start + ${COUNTER_OFFSET}, number);
  ${substream.join('\n  ')}
  view.setUint32(start + ${START_OFFSET}, timing / 4294967296);
  view.setUint32(start + ${START_OFFSET + 4}, timing);
  ${body.join('\n  ')}
  const size = at - start;
  view.setUint32(start + ${SIZE_OFFSET}, size);
  ${stream.trace.packetLimit === Infinity ? '' : `if (size > ${stream.trace.packetLimit}) stream.refuse(size, ${stream.trace.packetLimit});`}
  ${commitText(stream.ring, 'start', 'size')}
}`;
  const scope = {
    ...ringScope(stream.ring),
    stream,
    counter: stream.counter,
    /** The timing of the event that is being recorded. */
    started: new Float64Array(1),
    fields,
    description,
    checkValues,
    checkSubstream,
    recordPlain,
    valueBound,
    writeFloat,
    writeInteger,
    writeSubstream,
    writeText,
    writeValue,
  };
  const substreamAt = `start + ${SUBSTREAM_OFFSET}`;
  // What V8 inlines at its call sites, so that finishing nothing costs a comparison, and a timing,
  // a double, gets where it is written without a box on the heap.
  const finish = (recorded: string, parameter: string) => `
function finishSpan(${[parameter, 'timing', ...names].filter((name) => name !== '').join(', ')}) {
  if (typeof timing !== 'number') {
    if (timing !== undefined) stream.checkTiming(timing);
    return;
  }
  started[0] = timing;
  ${recorded}(${[parameter, ...names].filter((name) => name !== '').join(', ')});
}`;
  return compile(
    description,
    scope,
    `${record('recordSpan', '', [
      `view.setUint32(${substreamAt}, 0);`,
      `view.setUint32(${substreamAt} + 4, 0);`,
    ])}
${record('recordSpanIn', 'substream', [`writeSubstream(view, ${substreamAt}, substream);`])}
return { finish: ${finish('recordSpan', '')}, finishIn: ${finish('recordSpanIn', 'substream')} };`,
  ) as Span;
}
