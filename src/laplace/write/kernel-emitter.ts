import { buildEmitter } from '../../core/ring/emitter-builder.js';
import type { RingOwner } from '../../core/ring/emitter-builder.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import type { Ring } from '../../core/ring/ring.js';
import { writeUtf8 } from '../../core/utf8.js';
import { checkInt64 } from '../../core/int64.js';
import { checkWord, isExact, putHex, putHex32, writeHex } from '../hexadecimal.js';
import type { Wide } from '../hexadecimal.js';
import {
  END_TAG,
  FIELD_DIGITS,
  isTag,
  kernelEventShapes,
  LONGEST_NAME,
} from '../kernel-event-kinds.js';
import type {
  kernelEventKinds,
  kernelFields,
  KernelEventKind,
  KernelEventShape,
  KernelField,
  KernelFieldType,
} from '../kernel-event-kinds.js';
import { NEWLINE, SPACE, TIMESTAMP_DIGITS } from '../layout.js';

/** Accepted values of each field type. */
interface FieldValues {
  u32: number;
  u64: Wide;
  name: string;
}

type ValuesOf<Names extends readonly KernelField[]> = {
  -readonly [Index in keyof Names]: FieldValues[(typeof kernelFields)[Names[Index]]];
};

/** Parameters of a record kind's method after the timestamp. */
export type KernelEventValues<Kind extends KernelEventKind> = ValuesOf<
  (typeof kernelEventKinds)[Kind]['fields']
>;

/** Records one kernel event. */
export type EmitKernelEvent<Kind extends KernelEventKind> = (
  timestamp: Wide | undefined,
  ...values: KernelEventValues<Kind>
) => void;

/** Records an event that the catalog does not have. */
export type EmitAnyEvent = (tag: string, timestamp: Wide | undefined, rest: string) => void;

/** Most bytes of UTF-8 for a UTF-16 unit. */
const BYTES_A_UNIT = 3;

/** A name of up to this many units always fits; a longer one is measured. */
const SURELY_SHORT = Math.floor(LONGEST_NAME / BYTES_A_UNIT);

/**
 * Whether a name comes back as it was given. The end of its line ends it, which is CR LF for some
 * readers, and UTF-8 has no bytes for half a surrogate pair.
 */
function isStorable(name: string): boolean {
  return (
    !name.includes('\n') && !name.includes('\r') && !name.includes('\0') && name.isWellFormed()
  );
}

/** Checks the text that ends a line. */
function checkText(field: string, value: unknown, least: number): void {
  const limit = `a string of ${least} to ${LONGEST_NAME} bytes without CR, LF, NUL and unpaired surrogates`;
  if (typeof value !== 'string') throw wrongType(field, value, limit);
  if (value.length < least || !isStorable(value)) throw outOfRange(field, value, limit);
  if (value.length > SURELY_SHORT && Buffer.byteLength(value) > LONGEST_NAME) {
    throw outOfRange(field, value, limit);
  }
}

/** Whether a name is valid, for names that need not be measured. */
function isPlainName(value: unknown): boolean {
  return (
    typeof value === 'string' && value !== '' && value.length <= SURELY_SHORT && isStorable(value)
  );
}

function checkField(field: string, type: KernelFieldType, value: unknown): void {
  if (type === 'u32') checkWord(field, value, 0xffff_ffff);
  else if (type === 'u64') checkInt64(field, value, 'u64');
  else checkText(field, value, 1);
}

/** Checks all values before anything is written. */
function checkEvent(
  { fields }: KernelEventShape,
  timestamp: unknown,
  values: readonly unknown[],
): void {
  if (timestamp !== undefined) checkInt64('timestamp', timestamp, 'u64');
  fields.forEach(({ name, type }, i) => {
    checkField(name, type, values[i]);
  });
}

/** Most bytes of a line without its name. */
function longestNumbers({ fields }: KernelEventShape): number {
  return fields.reduce(
    (sum, { type }) => sum + 1 + (type === 'name' ? 0 : FIELD_DIGITS[type]),
    'T '.length + TIMESTAMP_DIGITS + '\n'.length,
  );
}

/** Most bytes of a name. */
function nameBound(name: string): number {
  return Math.min(name.length * BYTES_A_UNIT, LONGEST_NAME);
}

/** The emitter that takes every case. */
function plainEmitter({ ring }: RingOwner, shape: KernelEventShape) {
  const { fields, tag } = shape;
  const numbers = longestNumbers(shape);
  const tagByte = tag.charCodeAt(0);
  return (timestamp: Wide | undefined, ...values: unknown[]): void => {
    checkEvent(shape, timestamp, values);
    const last = values[fields.length - 1];
    const bound = numbers + (typeof last === 'string' ? nameBound(last) : 0);
    if (ring.free < bound && !ring.makeRoom(bound)) return;
    if (timestamp === undefined) ring.readStamp();
    const { bytes } = ring;
    const start = ring.position;
    bytes[start] = tagByte;
    bytes[start + 1] = SPACE;
    let at = writeHex(bytes, start + 2, timestamp ?? ring.stamp[0]!);
    fields.forEach(({ type }, i) => {
      bytes[at] = SPACE;
      at =
        type === 'name'
          ? at + 1 + writeUtf8(bytes, at + 1, values[i] as string)
          : writeHex(bytes, at + 1, values[i] as Wide);
    });
    bytes[at] = NEWLINE;
    ring.advance(at + 1 - start);
    ring.commit();
  };
}

const catalogTags: ReadonlySet<string> = new Set([
  ...kernelEventShapes.map(({ tag }) => tag),
  END_TAG,
]);

function checkTag(value: unknown): void {
  const limit = 'one printable ASCII character that is no tag of a method';
  if (typeof value !== 'string') throw wrongType('tag', value, limit);
  if (value.length !== 1 || !isTag(value.charCodeAt(0)) || catalogTags.has(value)) {
    throw outOfRange('tag', value, limit);
  }
}

/** Makes the function that records an event that the catalog does not have: such events are rare. */
export function anyEventEmitter({ ring }: RingOwner): EmitAnyEvent {
  return (tag, timestamp, rest) => {
    checkTag(tag);
    if (timestamp !== undefined) checkInt64('timestamp', timestamp, 'u64');
    checkText('rest', rest, 0);
    const bound = 'T  \n'.length + TIMESTAMP_DIGITS + nameBound(rest);
    if (ring.free < bound && !ring.makeRoom(bound)) return;
    if (timestamp === undefined) ring.readStamp();
    const { bytes, position: start } = ring;
    bytes[start] = tag.charCodeAt(0);
    bytes[start + 1] = SPACE;
    let at = writeHex(bytes, start + 2, timestamp ?? ring.stamp[0]!);
    if (rest !== '') {
      bytes[at] = SPACE;
      at += 1 + writeUtf8(bytes, at + 1, rest);
    }
    bytes[at] = NEWLINE;
    ring.advance(at + 1 - start);
    ring.commit();
  };
}

/** Source of the test for a usual value; the plain emitter checks all others. */
function quickTest(type: KernelFieldType, name: string): string {
  switch (type) {
    case 'u32':
      return `typeof ${name} === 'number' && ${name} >>> 0 === ${name}`;
    case 'u64':
      return `isExact(${name})`;
    case 'name':
      return `isPlainName(${name})`;
  }
}

/** Source that writes a field at `at + 1` and moves `at` to its end. */
const WRITES: Readonly<Record<KernelFieldType, (value: string) => string>> = {
  u32: (value) => `at = putHex32(view, at + 1, ${value});`,
  u64: (value) => `at = putHex(view, at + 1, ${value});`,
  name: (value) => `at += 1 + writeUtf8(bytes, at + 1, ${value});`,
};

/** Makes the function that records one kind of kernel event. */
export function kernelEmitter<Kind extends KernelEventKind>(
  owner: RingOwner,
  shape: KernelEventShape & { kind: Kind },
): EmitKernelEvent<Kind> {
  const { fields, kind, tag } = shape;
  const names = fields.map((_, i) => `v${i}`);
  const name = fields.findIndex(({ type }) => type === 'name');
  const tests = fields.map(({ type }, i) => quickTest(type, `v${i}`));
  const usual = {
    name: `laplace ${kind}`,
    parameters: ['timestamp', ...names],
    scope: ({ readStamp }: Ring) => ({
      readStamp,
      isExact,
      isPlainName,
      nameBound,
      putHex,
      putHex32,
      writeUtf8,
    }),
    test: ['(timestamp === undefined || isExact(timestamp))', ...tests].join(' && '),
    bytes: `${longestNumbers(shape)}${name === -1 ? '' : ` + nameBound(v${name})`}`,
    write: `let when = timestamp;
  if (timestamp === undefined) {
    readStamp();
    when = stamp[0];
  }
  view.setUint16(start, ${(tag.charCodeAt(0) << 8) | SPACE});
  let at = putHex(view, start + 2, when);
  ${fields.map(({ type }, i) => `view.setUint8(at, ${SPACE});\n  ${WRITES[type](`v${i}`)}`).join('\n  ')}
  view.setUint8(at, ${NEWLINE});`,
    size: 'at + 1 - start',
  };
  return buildEmitter<unknown[]>(
    owner,
    usual,
    plainEmitter(owner, shape) as (...values: unknown[]) => void,
  );
}
