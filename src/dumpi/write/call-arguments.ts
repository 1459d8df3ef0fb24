import { outOfRange, wrongType } from '../../core/errors.js';
import { checkInt64, storeInt64 } from '../../core/int64.js';
import { takeElements } from '../../core/taken-elements.js';
import type { Call, Field, FieldEncoding, Status } from '../calls.js';
import {
  COUNT_BYTES,
  STATUS_BYTES_OFFSET,
  STATUS_CANCELLED_OFFSET,
  STATUS_ERROR_OFFSET,
  STATUS_RECORD_BYTES,
  STATUS_SOURCE_OFFSET,
  STATUS_TAG_OFFSET,
} from '../layout.js';
import { integerIn } from '../../core/options/argument.js';
import { ENCODED_BYTES } from '../calls.js';

/**
 * The arguments of a call as bytes, for any call and any legal values, by walking the table. The
 * writer's compiled encoders (compiled-encoder.ts) do the same for the calls that are frequent.
 */

/** The widths of integers, their ranges and the DataView methods that write them. */
export const INTEGERS = {
  i8: { low: -0x80, high: 0x7f, set: 'setInt8' },
  u8: { low: 0, high: 0xff, set: 'setUint8' },
  i16: { low: -0x8000, high: 0x7fff, set: 'setInt16' },
  i32: { low: -0x8000_0000, high: 0x7fff_ffff, set: 'setInt32' },
} as const;

type Values = Readonly<Record<string, unknown>>;

function checkInteger(
  field: string,
  value: unknown,
  encoding: Exclude<FieldEncoding, 'status' | 'chars'>,
): void {
  if (encoding === 'i64' || encoding === 'u64') {
    checkInt64(field, value, encoding);
    return;
  }
  const { low, high } = INTEGERS[encoding];
  integerIn(field, value, low, high);
}

/** A copy of a status, each field of which is read once. */
function takeStatus(field: string, status: unknown): Status {
  if (typeof status !== 'object' || status === null) {
    throw wrongType(field, status, 'a status: { bytes, source, tag, cancelled, error }');
  }
  const { bytes, source, tag, cancelled, error } = status as Status;
  for (const [name, value] of Object.entries({ bytes, source, tag })) {
    checkInteger(`${field}.${name}`, value, 'i32');
  }
  for (const [name, value] of Object.entries({ cancelled, error })) {
    checkInteger(`${field}.${name}`, value, 'i8');
  }
  return { bytes, source, tag, cancelled, error };
}

function takeOne(field: string, value: unknown, encoding: FieldEncoding): unknown {
  if (encoding === 'status') return takeStatus(field, value);
  if (encoding === 'chars') {
    if (typeof value !== 'string') throw wrongType(field, value, 'a string without NUL');
    if (value.includes('\0')) throw outOfRange(field, value, 'a string without NUL');
  } else {
    checkInteger(field, value, encoding);
  }
  return value;
}

/** Elements of which the format counts at most as many. */
const MAX_ELEMENTS = 0x7fff_ffff;

function takeArray(field: string, value: unknown, elements: string): readonly unknown[] {
  return takeElements(field, value, MAX_ELEMENTS, `an array ${elements}, or null`);
}

/** Reads the field that counts an array; below 0 (MPI_UNDEFINED) there are no elements. */
function countOf(field: Field, values: Values): number | undefined {
  if (field.count === undefined) return undefined;
  const count = values[field.count];
  return typeof count === 'number' ? Math.max(0, count) : undefined;
}

function checkLength(name: string, field: Field, length: number, values: Values): void {
  const count = countOf(field, values);
  if (count === undefined || length === 0 || length === count) return;
  const limit = `of ${count} ${field.encoding === 'chars' && field.dimensions === 0 ? 'bytes' : 'elements'} as ${field.count ?? ''} says, or empty`;
  throw outOfRange(name, length, limit);
}

/** @param values scalars of the call, of which one may count the elements of this field. */
function takeField(call: Call, field: Field, value: unknown, values: Values): unknown {
  const name = `${call.name} ${field.name}`;
  if (field.dimensions === 0) {
    if (field.encoding === 'status' && value === null) return null;
    const taken = takeOne(name, value, field.encoding);
    if (field.encoding === 'chars') {
      checkLength(name, field, Buffer.byteLength(value as string), values);
    }
    return taken;
  }
  if (value === null) return null;
  const elements = takeArray(
    name,
    value,
    field.dimensions === 2 ? 'of arrays' : `of ${field.encoding}`,
  );
  checkLength(name, field, elements.length, values);
  return elements.map((element, i) => {
    const each = `${name}[${i}]`;
    if (field.dimensions === 1) {
      if (field.encoding === 'status' && element === null) {
        throw wrongType(
          each,
          null,
          'a status: only all of them are ignored, with null for the array',
        );
      }
      return takeOne(each, element, field.encoding);
    }
    const row = takeArray(each, element, `of ${field.encoding}`);
    if (field.inner !== undefined && row.length !== field.inner) {
      throw outOfRange(each, row, `of ${field.inner} elements`);
    }
    return row.map((one, j) => takeOne(`${each}[${j}]`, one, field.encoding));
  });
}

/** Whether this record has the fields that only the root's has. */
function isRoot(call: Call, values: Values): boolean {
  return call.rankField !== undefined && values[call.rankField] === values['root'];
}

/**
 * Checks every argument of a call that its record will hold, and copies it: each property and each
 * element is read once, and no code of the caller runs after that.
 *
 * @throws TracewrightError that names the call, the field and its limit.
 */
export function takeArguments(call: Call, values: unknown): Values {
  if (typeof values !== 'object' || values === null) {
    const names = call.fields.map(({ name }) => name).join(', ');
    throw wrongType(`arguments of ${call.name}`, values, `an object { ${names} }`);
  }
  const taken: Record<string, unknown> = {};
  for (const { name, rootOnly } of call.fields) {
    if (!rootOnly) taken[name] = (values as Values)[name];
  }
  const root = isRoot(call, taken);
  for (const field of call.fields) {
    if (field.rootOnly && !root) continue;
    const value = field.rootOnly ? (values as Values)[field.name] : taken[field.name];
    taken[field.name] = takeField(call, field, value, taken);
  }
  return taken;
}

function sizeOne(value: unknown, encoding: FieldEncoding): number {
  const bytes = ENCODED_BYTES[encoding];
  return encoding === 'chars' ? bytes + Buffer.byteLength(value as string) : bytes;
}

function sizeField(field: Field, value: unknown): number {
  const { dimensions, encoding } = field;
  if (dimensions === 0) {
    if (encoding !== 'status') return sizeOne(value, encoding);
    return COUNT_BYTES + (value === null ? 0 : STATUS_RECORD_BYTES);
  }
  let bytes = COUNT_BYTES;
  const elements = (value ?? []) as ArrayLike<unknown>;
  for (let i = 0; i < elements.length; i++) {
    if (dimensions === 1) {
      bytes += sizeOne(elements[i], encoding);
      continue;
    }
    const row = elements[i] as ArrayLike<unknown>;
    bytes += COUNT_BYTES;
    for (let j = 0; j < row.length; j++) bytes += sizeOne(row[j], encoding);
  }
  return bytes;
}

/**
 * Bytes that the arguments of a call take.
 *
 * @param statuses whether the record's mask says that statuses are stored.
 */
export function argumentBytes(call: Call, values: Values, statuses: boolean): number {
  const root = isRoot(call, values);
  let bytes = 0;
  for (const field of call.fields) {
    if (field.rootOnly && !root) continue;
    if (field.encoding === 'status' && !statuses) continue;
    bytes += sizeField(field, values[field.name]);
  }
  return bytes;
}

/** Writes one status without its count and returns the offset after it. */
function writeStatus(view: DataView, at: number, status: Status): number {
  view.setInt32(at + STATUS_BYTES_OFFSET, status.bytes);
  view.setInt32(at + STATUS_SOURCE_OFFSET, status.source);
  view.setInt8(at + STATUS_CANCELLED_OFFSET, status.cancelled);
  view.setInt8(at + STATUS_ERROR_OFFSET, status.error);
  view.setInt32(at + STATUS_TAG_OFFSET, status.tag);
  return at + STATUS_RECORD_BYTES;
}

function writeOne(
  view: DataView,
  bytes: Buffer,
  at: number,
  value: unknown,
  encoding: FieldEncoding,
): number {
  switch (encoding) {
    case 'chars': {
      const count = bytes.write(value as string, at + COUNT_BYTES, 'utf8');
      view.setInt32(at, count);
      return at + COUNT_BYTES + count;
    }
    case 'status':
      return writeStatus(view, at, value as Status);
    case 'i64':
    case 'u64':
      storeInt64(view, at, value as number | bigint);
      return at + ENCODED_BYTES[encoding];
    default: {
      view[INTEGERS[encoding].set](at, value as number);
      return at + ENCODED_BYTES[encoding];
    }
  }
}

/**
 * Writes the arguments of a call, which have been checked, and returns the offset after them.
 *
 * @param bytes over the same memory as `view`.
 */
export function writeArguments(
  view: DataView,
  bytes: Buffer,
  at: number,
  call: Call,
  values: Values,
  statuses: boolean,
): number {
  const root = isRoot(call, values);
  for (const { name, dimensions, encoding, rootOnly } of call.fields) {
    if (rootOnly && !root) continue;
    if (encoding === 'status' && !statuses) continue;
    const value = values[name];
    if (dimensions === 0 && encoding !== 'status') {
      at = writeOne(view, bytes, at, value, encoding);
      continue;
    }
    // One status counts as an array of one.
    const elements = (
      dimensions === 0 ? (value === null ? [] : [value]) : (value ?? [])
    ) as ArrayLike<unknown>;
    view.setInt32(at, elements.length);
    at += COUNT_BYTES;
    for (let i = 0; i < elements.length; i++) {
      if (dimensions !== 2) {
        at = writeOne(view, bytes, at, elements[i], encoding);
        continue;
      }
      const row = elements[i] as ArrayLike<unknown>;
      view.setInt32(at, row.length);
      at += COUNT_BYTES;
      for (let j = 0; j < row.length; j++) at = writeOne(view, bytes, at, row[j], encoding);
    }
  }
  return at;
}
