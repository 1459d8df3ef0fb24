import { buildEmitter } from '../../core/ring/emitter-builder.js';
import type { UsualCase } from '../../core/ring/emitter-builder.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { bigintHalves, bigintStore, HIGH_HALF } from '../../core/int64.js';
import { isArray, takeElements } from '../../core/taken-elements.js';
import { attributeHead, constantStores, headStores, prefixed, timeStores } from './event-text.js';
import { valueBound, writeFloat, writeInteger, writeText, writeValue } from './encoder.js';
import {
  DESCRIPTION_OFFSET,
  MAX_U16,
  SIZE_OFFSET,
  START_OFFSET,
  SUBSTREAM_OFFSET,
} from '../layout.js';
import type { ValueType } from '../packet.js';
import type { EventStream, Timing } from './event-stream.js';
import {
  checkSubstream,
  checkText,
  MAX_I64,
  MIN_I64,
  SURELY_SHORT,
  takeAttribute,
  TYPE_BYTES,
} from './value.js';
import type { AttributeType } from './value.js';

/** Names and types of a span's attributes: an object, or a list of pairs. */
export type SpanSchema =
  | Readonly<Record<string, AttributeType>>
  | readonly (readonly [name: string, type: AttributeType])[];

/** Types of values that `finish` takes, by attribute type. */
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

/** A function can have 65,534. Compiling costs more than it saves long before that. */
const MAX_PARAMETERS = 256;

function fieldsOf(schema: unknown): Field[] {
  if (typeof schema !== 'object' || schema === null) {
    throw wrongType('schema', schema, 'an object of names and types, or a list of pairs');
  }
  const isList = isArray(schema);
  const entries = isList
    ? takeElements('schema', schema, MAX_U16, 'a list of pairs')
    : Object.entries(schema);
  return entries.map((entry) => {
    const limit = 'a pair of a name and a type';
    const [name, type] = takeElements('schema', entry, MAX_U16, limit);
    checkText('attribute name', name);
    if (!isList && /^(0|[1-9]\d*)$/.test(name as string)) {
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
 * Builds the functions that record one kind of event.
 *
 * @see Stream.span, which states the contract.
 */
export function buildSpan<Schema extends SpanSchema>(
  stream: EventStream,
  description: string,
  schema: Schema,
): Span<Schema> {
  checkText('description', description);
  const fields = fieldsOf(schema);
  const plain = plainSpan(stream, description, fields);
  if (fields.length > MAX_PARAMETERS) return plain;
  const finish = usualCase(stream, description, fields, false);
  const finishIn = usualCase(stream, description, fields, true);
  return {
    finish: buildEmitter(stream, finish, plain.finish),
    finishIn: buildEmitter(stream, finishIn, plain.finishIn),
  };
}

/** The functions of a span, as properties that need no `this`. */
interface PlainSpan {
  finish: (timing: Timing | undefined, ...values: unknown[]) => void;
  finishIn: (substream: number | bigint, timing: Timing | undefined, ...values: unknown[]) => void;
}

/** The span that takes every case: any values, however large, and a ring without room. */
function plainSpan(stream: EventStream, description: string, fields: readonly Field[]): PlainSpan {
  const names = fields.map(({ name }) => name);
  const types = fields.map(({ type }) => type);
  const fixedBytes = fields.reduce(
    (sum, { name }) => sum + prefixed(name).length + 1,
    DESCRIPTION_OFFSET + prefixed(description).length,
  );
  const finishIn: PlainSpan['finishIn'] = (substream, timing, ...values) => {
    if (timing === undefined) return;
    stream.checkTiming(timing);
    checkSubstream(substream);
    let bound = fixedBytes;
    const taken = types.map((type, i) => {
      const value = takeAttribute(names[i]!, type, values[i]);
      bound += valueBound(type, value);
      return value;
    });
    stream.record(timing, substream, description, { names, types, values: taken, bound });
  };
  return {
    finishIn,
    finish(timing, ...values) {
      finishIn(0, timing, ...values);
    },
  };
}

const MAX_U32 = 2 ** 32 - 1;

/** Expression: whether a number is an integer that is safe upwards. V8 compiles it without a call. */
function isSafe(value: string): string {
  return `${value} <= ${Number.MAX_SAFE_INTEGER} && Math.floor(${value}) === ${value}`;
}

/** Expression: whether a bigint is a u64. Bigints of different lengths are compared the fastest. */
function isU64(value: string): string {
  return `${value} >= 0n && ${value} < ${2n ** 64n}n`;
}

/** Expression: whether a value is a usual one. The most frequent values come first. None for arrays. */
function usualTest(type: AttributeType, value: string): string | [] {
  switch (type) {
    case 'string':
      return `typeof ${value} === 'string' && ${value}.length <= ${SURELY_SHORT}`;
    case 'u64':
      return `(typeof ${value} === 'number' ? (${value} <= ${MAX_U32} ? ${value} >>> 0 === ${value} : ${isSafe(value)})
    : typeof ${value} === 'bigint' ? ${isU64(value)} : typeof ${value} === 'boolean')`;
    case 'i64':
      return `(typeof ${value} === 'number' ? (${value} | 0) === ${value} || (${value} >= ${Number.MIN_SAFE_INTEGER} && ${isSafe(value)})
    : typeof ${value} === 'bigint' ? ${value} >= MIN_I64 && ${value} <= MAX_I64 : typeof ${value} === 'boolean')`;
    case 'f64':
      return `typeof ${value} === 'number'`;
    default:
      return [];
  }
}

/**
 * Statements that read the arrays among the values if the others are usual, as `isUsual` says. A getter
 * of an array can record another event.
 */
function takeArrays(fields: readonly Field[]): string {
  const arrays = fields.flatMap(({ type }, i) =>
    type.endsWith('[]') ? [`v${i} = takeAttribute(names[${i}], '${type}', v${i});`] : [],
  );
  return `if (isUsual) {
    ${arrays.join('\n    ')}
    started[0] = timing;
  }`;
}

/** Statements: store a value and move `at` past it. */
function write(type: AttributeType, value: string): string {
  switch (type) {
    case 'string':
      return `at = writeText(view, bytes, at, ${value});`;
    case 'u64':
    case 'i64': {
      const [isSmall, smallHigh, wideHigh] =
        type === 'u64'
          ? [`${value} <= ${MAX_U32}`, '0', `${value} * ${2 ** -32}`]
          : [`(${value} | 0) === ${value}`, `${value} >> 31`, `Math.floor(${value} * ${2 ** -32})`];
      // As writeInteger, without a call. The low half is taken modulo 2^32. Each case has a store of
      // its own: V8 would box a value that one of them takes as an integer and the other as a double.
      return `if (typeof ${value} === 'number') {
    if (${isSmall}) view.setInt32(at, ${smallHigh});
    else view.setInt32(at, (${wideHigh}) | 0);
    view.setInt32(at + 4, ${value} | 0);
  } else if (typeof ${value} === 'bigint') {
    bigintStore[0] = ${value};
    view.setInt32(at, bigintHalves[${HIGH_HALF}] | 0);
    view.setInt32(at + 4, bigintHalves[${1 - HIGH_HALF}] | 0);
  } else {
    writeInteger(view, at, ${value});
  }
  at += 8;`;
    }
    case 'f64':
      return `at = writeFloat(view, at, ${value});`;
    default:
      return `at = writeValue(view, bytes, at, '${type}', ${value});`;
  }
}

/** Expression: the most bytes that an event of the span takes. */
function boundOf(description: string, fields: readonly Field[]): string {
  let fixed = DESCRIPTION_OFFSET + prefixed(description).length;
  const variable: string[] = [];
  fields.forEach(({ name, type }, i) => {
    fixed += prefixed(name).length + 1;
    if (type === 'string') variable.push(`2 + 3 * v${i}.length`);
    else if (type.endsWith('[]')) variable.push(`valueBound('${type}', v${i})`);
    else fixed += 8;
  });
  return [fixed, ...variable].join(' + ');
}

/** Statements: store description and attributes, and declare `at`, the offset after them. */
function writeAttributes(description: string, fields: readonly Field[]): string {
  // The description and the first attribute's name are adjacent: one run of constants.
  let constant = prefixed(description);
  const statements: string[] = [];
  fields.forEach(({ name, type }, i) => {
    constant = Buffer.concat([constant, attributeHead(name, type)]);
    const base = i === 0 ? `start + ${DESCRIPTION_OFFSET}` : 'at';
    statements.push(
      ...constantStores(constant, base),
      `${i === 0 ? 'let at =' : 'at ='} ${base} + ${constant.length};`,
      write(type, `v${i}`),
    );
    constant = Buffer.alloc(0);
  });
  if (fields.length === 0) {
    const base = `start + ${DESCRIPTION_OFFSET}`;
    statements.push(...constantStores(constant, base), `const at = ${base} + ${constant.length};`);
  }
  return statements.join('\n  ');
}

/** Events of the span that fit the ring, with values of the usual kinds. */
function usualCase(
  stream: EventStream,
  description: string,
  fields: readonly Field[],
  inSubstream: boolean,
): UsualCase {
  const values = fields.map((_, i) => `v${i}`);
  const parameters = inSubstream ? ['substream', ...values] : values;
  const substreamAt = `start + ${SUBSTREAM_OFFSET}`;
  const { packetLimit } = stream.trace;
  const hasArrays = fields.some(({ type }) => type.endsWith('[]'));
  const test = [
    'timing >= 0 && timing <= stamp[0]',
    ...(inSubstream
      ? [
          `(typeof substream === 'number' ? substream >= 0 && ${isSafe('substream')}
    : typeof substream === 'bigint' && ${isU64('substream')})`,
        ]
      : []),
    ...fields.flatMap(({ type }, i) => usualTest(type, `v${i}`)),
  ].join(' && ');
  return {
    name: description,
    parameters,
    scope: {
      stream,
      counter: stream.counter,
      started: stream.trace.started,
      MAX_I64,
      MIN_I64,
      names: fields.map(({ name }) => name),
      takeAttribute,
      valueBound,
      writeFloat,
      writeInteger,
      writeText,
      writeValue,
      bigintStore,
      bigintHalves,
    },
    // Finishing nothing costs a comparison, and a timing, which is a double, needs no box.
    entry: {
      parameters: [...(inSubstream ? ['substream'] : []), 'timing', ...values],
      prepare: `if (typeof timing !== 'number') {
    if (timing !== undefined) stream.checkTiming(timing);
    return;
  }
  started[0] = timing;`,
      plainArguments: [...(inSubstream ? ['substream'] : []), 'started[0]', ...values],
    },
    prepare: `const timing = started[0];
  ${hasArrays ? `const isUsual = ${test};\n  ${takeArrays(fields)}` : ''}`,
    test: hasArrays ? 'isUsual' : test,
    bytes: boundOf(description, fields),
    write: `const number = counter[0];
  ${headStores(stream.id, 'number')}
  ${timeStores('timing', START_OFFSET)}
  counter[0] = number + 1;
  ${
    inSubstream
      ? `writeInteger(view, ${substreamAt}, substream);`
      : `view.setInt32(${substreamAt}, 0);
  view.setInt32(${substreamAt} + 4, 0);`
  }
  ${writeAttributes(description, fields)}
  view.setInt32(start + ${SIZE_OFFSET}, at - start);
  ${packetLimit === Infinity ? '' : `if (at - start > ${packetLimit}) stream.refuse(at - start, ${packetLimit});`}`,
    size: 'at - start',
  };
}
