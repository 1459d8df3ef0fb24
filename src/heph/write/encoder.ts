import { storeInt64 } from '../../core/int64.js';
import { writeUtf8 } from '../../core/utf8.js';
import {
  COUNTER_OFFSET,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  MAX_U16,
  nameAt,
  SIZE_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
} from '../layout.js';
import type { ValueType } from '../packet.js';
import { isArrayType, TYPE_BYTES } from './value.js';
import type { AttributeScalar, AttributeType, AttributeValue, ResolvedValue } from './value.js';

/**
 * How an event is encoded (trace format 0.1.0, section "Event Packet"). Compiled spans and events
 * with an object of attributes use the same functions. Values were checked before; a function that
 * returns a number returns the offset after what it wrote.
 *
 * All stores are of signed numbers: see `constantStores`. One of a double that is not cut to an integer first can leave
 * an object on the heap.
 */

const PER_TWO_32 = 2 ** -32;
const { u64: U64, i64: I64, f64: F64, string: STRING } = TYPE_BYTES;

/** The head of an event without its size, its substream, and its end, which the commit stamps. */
export function writeHead(
  view: DataView,
  at: number,
  stream: number,
  counter: number,
  timing: number,
): void {
  view.setInt32(at + MAGIC_OFFSET, EVENT_MAGIC);
  view.setInt32(at + STREAM_OFFSET, stream);
  view.setInt32(at + COUNTER_OFFSET, counter | 0);
  view.setInt32(at + START_OFFSET, (timing * PER_TWO_32) | 0);
  view.setInt32(at + START_OFFSET + 4, timing | 0);
}

/** A string: u16 bytes of UTF-8, then those. */
export function writeText(view: DataView, bytes: Buffer, at: number, text: string): number {
  const count = writeUtf8(bytes, at + 2, text);
  view.setInt16(at, count);
  return at + 2 + count;
}

/** A 64-bit integer, signed or not. */
export function writeInteger(view: DataView, at: number, value: number | bigint | boolean): number {
  storeInt64(view, at, typeof value === 'boolean' ? Number(value) : value);
  return at + 8;
}

/** The type byte of a value that states no type, and the value; `AttributeInput` has the rules. */
export function writeUntyped(
  view: DataView,
  bytes: Buffer,
  at: number,
  value: AttributeScalar,
): number {
  if (typeof value === 'string') {
    view.setInt8(at, STRING);
    return writeText(view, bytes, at + 1, value);
  }
  if (typeof value !== 'number') {
    view.setInt8(at, typeof value === 'bigint' && value < 0n ? I64 : U64);
    return writeInteger(view, at + 1, value);
  }
  // Number.isSafeInteger, which V8 compiles as a call.
  const isInteger =
    value <= Number.MAX_SAFE_INTEGER &&
    value >= Number.MIN_SAFE_INTEGER &&
    Math.floor(value) === value &&
    // -0 is no integer: only a float keeps its sign.
    (value !== 0 || 1 / value > 0);
  if (!isInteger) {
    view.setInt8(at, F64);
    return writeFloat(view, at + 1, value);
  }
  view.setInt8(at, value < 0 ? I64 : U64);
  view.setInt32(at + 1, Math.floor(value * PER_TWO_32));
  view.setInt32(at + 5, value | 0);
  return at + 9;
}

/** A 64-bit float. */
export function writeFloat(view: DataView, at: number, value: number): number {
  view.setFloat64(at, value);
  return at + 8;
}

function writeScalar(
  view: DataView,
  bytes: Buffer,
  at: number,
  type: ValueType,
  value: AttributeScalar,
): number {
  if (type === 'string') return writeText(view, bytes, at, value as string);
  if (type === 'f64') return writeFloat(view, at, value as number);
  return writeInteger(view, at, value as number | bigint | boolean);
}

/** The type byte of a value with a stated type, and the value. */
export function writeTyped(
  view: DataView,
  bytes: Buffer,
  at: number,
  type: ValueType,
  value: AttributeScalar,
): number {
  view.setInt8(at, TYPE_BYTES[type]);
  return writeScalar(view, bytes, at + 1, type, value);
}

/** A value of any type; of an array u16 count, then the values. */
export function writeValue(
  view: DataView,
  bytes: Buffer,
  at: number,
  type: AttributeType,
  value: ResolvedValue['value'],
): number {
  if (!isArrayType(type)) {
    return writeScalar(view, bytes, at, type as ValueType, value as AttributeScalar);
  }
  const values = value as readonly AttributeScalar[];
  const each = type.slice(0, -2) as ValueType;
  view.setInt16(at, values.length);
  let next = at + 2;
  for (let i = 0; i < values.length; i++) {
    next = writeScalar(view, bytes, next, each, values[i]!);
  }
  return next;
}

/** The most bytes that {@link writeText} can need. */
export function textBound(text: string): number {
  return 2 + Math.min(3 * text.length, MAX_U16);
}

/** The most bytes that {@link writeValue} can need. */
export function valueBound(type: AttributeType, value: ResolvedValue['value']): number {
  if (!isArrayType(type)) {
    return type === 'string' ? textBound(value as string) : 8;
  }
  const values = value as readonly AttributeScalar[];
  if (type !== 'string[]') return 2 + 8 * values.length;
  let bound = 2;
  for (let i = 0; i < values.length; i++) bound += textBound(values[i] as string);
  return bound;
}

/** Names and values of an event; values without types are usual ones, see `TakenAttributes`. */
interface EncodedAttributes {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly types?: readonly AttributeType[];
  /** Default: all. */
  readonly count?: number;
}

/** Encodes an event at `start`, but for its end time, which the commit stamps; returns its size. */
export function encodeEvent(
  view: DataView,
  bytes: Buffer,
  start: number,
  stream: number,
  counter: number,
  timing: number,
  substream: number | bigint,
  description: string,
  { names, values, types, count = values.length }: EncodedAttributes,
): number {
  writeHead(view, start, stream, counter, timing);
  writeInteger(view, start + SUBSTREAM_OFFSET, substream);
  let at = writeText(view, bytes, nameAt(start), description);
  for (let i = 0; i < count; i++) {
    at = writeText(view, bytes, at, names[i]!);
    const type = types?.[i];
    if (type === undefined) at = writeUntyped(view, bytes, at, values[i] as AttributeScalar);
    else {
      view.setUint8(at, TYPE_BYTES[type]);
      at = writeValue(view, bytes, at + 1, type, values[i] as AttributeValue);
    }
  }
  view.setUint32(start + SIZE_OFFSET, at - start);
  return at - start;
}
