import { outOfRange, wrongType } from '../../core/errors.js';
import { checkInt64 } from '../../core/int64.js';
import { MAX_U16, TYPE_ARRAY, TYPE_F64, TYPE_I64, TYPE_STRING, TYPE_U64 } from '../layout.js';
import type { ValueType } from '../packet.js';

/** The type of an attribute on the wire, or an array of it. */
export type AttributeType = ValueType | `${ValueType}[]`;

/** A value whose type on the wire is stated rather than found out: see `u64`, `i64`, `f64`. */
export class TypedValue {
  readonly type: AttributeType;
  readonly value: AttributeScalar | ArrayLike<AttributeScalar>;

  constructor(type: AttributeType, value: AttributeScalar | ArrayLike<AttributeScalar>) {
    this.type = type;
    this.value = value;
  }
}

export type AttributeScalar = string | number | bigint | boolean;

/**
 * What an attribute of an event may be. Its type on the wire follows from the value:
 *
 * - a boolean is u64 0 or 1;
 * - a bigint, and a number that is a safe integer, is u64, or i64 when negative;
 * - any other number is f64;
 * - a string is a string;
 * - an array has the one type that fits all of its values (integers with a negative one among them:
 *   i64; numbers with a fraction among them: f64); an empty one is of u64;
 * - a typed array of unsigned integers is of u64, of signed integers i64, of floats f64;
 * - `u64(…)`, `i64(…)` and `f64(…)` say it outright.
 *
 * An attribute that is undefined is left out.
 */
export type AttributeInput =
  | AttributeScalar
  | readonly string[]
  | readonly number[]
  | readonly bigint[]
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

/** Range of the 64-bit integers. */
export const MAX_U64 = 0xffff_ffff_ffff_ffffn;
export const MIN_I64 = -0x8000_0000_0000_0000n;
export const MAX_I64 = 0x7fff_ffff_ffff_ffffn;

/** Longest string that surely fits without counting: three bytes a UTF-16 unit. */
export const SURELY_SHORT = Math.floor(MAX_U16 / 3);

/** Checks a single value against a type, with a typed error that names the field. */
export function checkValue(field: string, type: ValueType, value: unknown): void {
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
      if (!Number.isSafeInteger(value)) return 'f64';
      return value < 0 ? 'i64' : 'u64';
    default:
      throw wrongType(
        field,
        value,
        'a string, number, bigint, boolean, an array or typed array of these, or u64(), i64(), f64()',
      );
  }
}

function typeOfArray(field: string, values: readonly unknown[]): ValueType {
  const kinds = new Set(values.map((value) => typeof value));
  if (kinds.size > 1) {
    throw wrongType(field, values, `an array of one type, not of ${[...kinds].join(' and ')}`);
  }
  const types = new Set(values.map((value) => typeOfScalar(field, value)));
  if (types.has('f64')) return 'f64';
  if (types.has('i64')) return 'i64';
  return types.has('string') ? 'string' : 'u64';
}

/** A value ready to be encoded. */
export type AttributeValue = AttributeScalar | ArrayLike<AttributeScalar>;

/** A value and its type. */
export interface ResolvedValue {
  type: AttributeType;
  value: AttributeValue;
}

/** Finds the type of a value, and checks both. */
export function resolveValue(field: string, value: unknown): ResolvedValue {
  const resolved = findType(field, value);
  checkAttribute(field, resolved.type, resolved.value);
  return resolved;
}

/** Checks a value, or every value of an array, against a type. */
export function checkAttribute(field: string, type: AttributeType, value: unknown): void {
  if (!type.endsWith('[]')) {
    checkValue(field, type as ValueType, value);
    return;
  }
  if (!Array.isArray(value) && !(ArrayBuffer.isView(value) && !(value instanceof DataView))) {
    throw wrongType(field, value, 'an array or a typed array');
  }
  const values = value as ArrayLike<unknown>;
  if (values.length > MAX_U16) {
    throw outOfRange(field, value, `an array of at most ${MAX_U16} values`);
  }
  const each = type.slice(0, -2) as ValueType;
  for (let i = 0; i < values.length; i++) checkValue(`${field}[${i}]`, each, values[i]);
}

/** Whether {@link checkAttribute} accepts a value. */
export function isAttribute(type: AttributeType, value: unknown): boolean {
  try {
    checkAttribute('', type, value);
    return true;
  } catch {
    return false;
  }
}

function findType(field: string, value: unknown): ResolvedValue {
  if (value instanceof TypedValue) return value;
  if (Array.isArray(value)) {
    return { type: `${typeOfArray(field, value)}[]`, value: value as AttributeScalar[] };
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    // The name of the built-in type, also of a class derived from it.
    const name = (value as unknown as { [Symbol.toStringTag]: string })[Symbol.toStringTag];
    const type = name.includes('Float') ? 'f64[]' : name.includes('Uint') ? 'u64[]' : 'i64[]';
    return { type, value: value as unknown as ArrayLike<AttributeScalar> };
  }
  return { type: typeOfScalar(field, value), value: value as AttributeScalar };
}

/** What a 64-bit integer is given as. */
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
  const whole: AttributeType =
    Array.isArray(value) || ArrayBuffer.isView(value) ? `${type}[]` : type;
  checkAttribute(type, whole, value);
  return new TypedValue(whole, value as AttributeScalar | AttributeScalar[]);
}
