import { outOfRange, wrongType } from '../../core/errors.js';
import { checkInt64 } from '../../core/int64.js';
import { isArray, takeElements } from '../../core/taken-elements.js';
import { classNameOf } from '../../core/typed-array.js';
import { MAX_U16, TYPE_ARRAY, TYPE_F64, TYPE_I64, TYPE_STRING, TYPE_U64 } from '../layout.js';
import type { ValueType } from '../packet.js';

/** The type of an attribute on the wire, or an array of it. */
export type AttributeType = ValueType | `${ValueType}[]`;

/** A value whose type on the wire is stated rather than found out: see `u64`, `i64`, `f64`. */
export class TypedValue {
  readonly #type: AttributeType;
  readonly #value: AttributeScalar | ArrayLike<AttributeScalar>;

  constructor(type: AttributeType, value: AttributeScalar | ArrayLike<AttributeScalar>) {
    this.#type = type;
    this.#value = value;
  }

  get type(): AttributeType {
    return this.#type;
  }

  get value(): AttributeScalar | ArrayLike<AttributeScalar> {
    return this.#value;
  }

  /** @internal Whether a value is one, and no object that pretends to be. */
  static is(value: unknown): value is TypedValue {
    return typeof value === 'object' && value !== null && #type in value;
  }
}

export type AttributeScalar = string | number | bigint | boolean;

/**
 * The value of an attribute of an event. Its type on the wire follows from the value:
 *
 * - a boolean is u64 0 or 1;
 * - a bigint, and a number that is a safe integer, is u64, or i64 when negative;
 * - any other number is f64, -0 too;
 * - a string is a string;
 * - an array of integers, numbers and bigints mixed, is of u64, or of i64 with a negative one among
 *   them; an array of numbers with a fraction among them is of f64; an empty one is of u64;
 * - a typed array of unsigned integers is of u64, of signed integers i64, of floats f64;
 * - `u64(…)`, `i64(…)` and `f64(…)` say it outright.
 *
 * An attribute that is undefined is left out.
 */
export type AttributeInput =
  | AttributeScalar
  | readonly string[]
  | readonly (number | bigint)[]
  | readonly boolean[]
  | Uint8Array
  | Uint8ClampedArray
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array
  | TypedValue
  | undefined;

/** Names and values of an event's attributes, in the order in which they are written. */
export type Attributes = Readonly<Record<string, AttributeInput>>;

/** The type byte of each attribute type (section "Event Packet"). */
export const TYPE_BYTES: Readonly<Record<AttributeType, number>> = {
  u64: TYPE_U64,
  i64: TYPE_I64,
  f64: TYPE_F64,
  string: TYPE_STRING,
  'u64[]': TYPE_ARRAY | TYPE_U64,
  'i64[]': TYPE_ARRAY | TYPE_I64,
  'f64[]': TYPE_ARRAY | TYPE_F64,
  'string[]': TYPE_ARRAY | TYPE_STRING,
};

export function isArrayType(type: AttributeType): boolean {
  return (TYPE_BYTES[type] & TYPE_ARRAY) !== 0;
}

/** Range of the 64-bit integers. */
export const MAX_U64 = 0xffff_ffff_ffff_ffffn;
export const MIN_I64 = -0x8000_0000_0000_0000n;
export const MAX_I64 = 0x7fff_ffff_ffff_ffffn;

/** Longest string that surely fits without counting: three bytes a UTF-16 unit. */
export const SURELY_SHORT = Math.floor(MAX_U16 / 3);

/** Checks a single value against a type, with a typed error that names the field. */
function checkValue(field: string, type: ValueType, value: unknown): void {
  switch (type) {
    case 'u64':
    case 'i64':
      if (typeof value !== 'boolean') checkInt64(field, value, type);
      return;
    case 'f64':
      if (typeof value !== 'number') throw wrongType(field, value, 'a number');
      return;
    case 'string':
      checkText(field, value);
  }
}

/** Checks that a value is a string of at most 65,535 bytes of UTF-8. */
export function checkText(field: string, value: unknown): void {
  if (typeof value === 'string' && value.length <= SURELY_SHORT) return;
  const limit = `a string of at most ${MAX_U16} bytes of UTF-8`;
  if (typeof value !== 'string') throw wrongType(field, value, limit);
  if (Buffer.byteLength(value) > MAX_U16) throw outOfRange(field, value, limit);
}

/** Checks a substream: 0 to 2^64 - 1. */
export function checkSubstream(substream: unknown): void {
  if (typeof substream === 'number' && substream >>> 0 === substream) return;
  checkInt64('substream', substream, 'u64');
}

/** The type of a value that states none. */
function typeOfScalar(field: string, value: unknown): ValueType {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'u64';
    case 'bigint':
      return value < 0n ? 'i64' : 'u64';
    case 'number':
      if (!Number.isSafeInteger(value) || Object.is(value, -0)) return 'f64';
      return value < 0 ? 'i64' : 'u64';
    default:
      throw wrongType(
        field,
        value,
        'a string, number, bigint, boolean, an array or typed array of these, or u64(), i64(), f64()',
      );
  }
}

/** The type that all elements of an array have: integers may be numbers and bigints. */
function arrayKindOf(value: unknown): string {
  return typeof value === 'bigint' ? 'number' : typeof value;
}

function typeOfArray(field: string, values: readonly unknown[]): ValueType {
  const kind = arrayKindOf(values[0]);
  const other = values.findIndex((value) => arrayKindOf(value) !== kind);
  if (other !== -1) {
    const limit = `of the type of the elements before it, ${kind}`;
    throw wrongType(`${field}[${other}]`, values[other], limit);
  }
  const types = new Set(values.map((value, i) => typeOfScalar(`${field}[${i}]`, value)));
  if (types.has('f64')) return 'f64';
  if (types.has('i64')) return 'i64';
  return types.has('string') ? 'string' : 'u64';
}

/** A value ready to be encoded. */
export type AttributeValue = AttributeScalar | readonly AttributeScalar[];

/** A value and its type. */
export interface ResolvedValue {
  type: AttributeType;
  value: AttributeValue;
}

function takeArray(field: string, value: unknown): readonly unknown[] {
  return takeElements(field, value, MAX_U16, 'an array or a typed array');
}

/** Checks the elements of an array that was taken. */
function checkElements(field: string, type: ValueType, values: readonly unknown[]): void {
  for (let i = 0; i < values.length; i++) {
    if (!isValue(type, values[i])) checkValue(`${field}[${i}]`, type, values[i]);
  }
}

/** Whether {@link checkValue} surely accepts a value: quicker, without the name of a field. */
function isValue(type: ValueType, value: unknown): boolean {
  switch (type) {
    case 'u64':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
    case 'i64':
      return typeof value === 'number' && Number.isSafeInteger(value);
    case 'f64':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string' && value.length <= SURELY_SHORT;
  }
}

/**
 * Finds the type of a value, and checks both. Of an array it returns a copy: from then on no code of
 * the caller runs, and nobody changes it.
 */
export function resolveValue(field: string, value: unknown): ResolvedValue {
  if (TypedValue.is(value)) {
    const { type } = value;
    return { type, value: takeAttribute(field, type, value.value) };
  }
  const name = classNameOf.call(value);
  if (name !== undefined) {
    const each = name.includes('Float') ? 'f64' : name.includes('Uint') ? 'u64' : 'i64';
    return { type: `${each}[]`, value: takeArray(field, value) as AttributeScalar[] };
  }
  if (isArray(value)) {
    const values = takeArray(field, value);
    const each = typeOfArray(field, values);
    checkElements(field, each, values);
    return { type: `${each}[]`, value: values as AttributeScalar[] };
  }
  const type = typeOfScalar(field, value);
  checkValue(field, type, value);
  return { type, value: value as AttributeScalar };
}

/** Checks a value against a type; of an array it returns a copy, as {@link resolveValue} does. */
export function takeAttribute(field: string, type: AttributeType, value: unknown): AttributeValue {
  if (!type.endsWith('[]')) {
    checkValue(field, type as ValueType, value);
    return value as AttributeScalar;
  }
  const values = takeArray(field, value);
  checkElements(field, type.slice(0, -2) as ValueType, values);
  return values as AttributeScalar[];
}

/** A 64-bit integer as callers give it. */
export type Integers = number | bigint | boolean;

/** An unsigned 64-bit integer, or an array of them. */
export function u64(value: Integers | readonly Integers[]): TypedValue {
  return typed('u64', value);
}

/** A signed 64-bit integer, or an array of them. */
export function i64(value: Integers | readonly Integers[]): TypedValue {
  return typed('i64', value);
}

/** A 64-bit float, or an array of them. */
export function f64(value: number | readonly number[]): TypedValue {
  return typed('f64', value);
}

function typed(type: ValueType, value: unknown): TypedValue {
  const whole: AttributeType = isArray(value) || ArrayBuffer.isView(value) ? `${type}[]` : type;
  takeAttribute(type, whole, value);
  return new TypedValue(whole, value as AttributeScalar | AttributeScalar[]);
}
