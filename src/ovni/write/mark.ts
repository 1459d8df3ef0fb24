import { HIGH_HALF, LITTLE, LOW_HALF } from '../../core/byte-order.js';
import { integerIn } from '../../core/options/argument.js';
import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { recordsNothing } from '../../core/off.js';
import { outOfRange, wrongOrder, wrongType } from '../../core/errors.js';
import {
  HEADER_BYTES,
  headerOf,
  MAX_LABEL_BYTES,
  PAYLOAD_OFFSET,
  payloadSizeCode,
} from '../layout.js';
import { MARK_TYPES, MAX_DEPTH, SINGLE, STACK } from '../mark-stacks.js';
import { shareLabel, sharedMark, shareMark } from './shared-marks.js';
import type { SharedMark } from './shared-marks.js';
import type { MarkDefinition } from './stream-metadata.js';
import type { StreamWriter } from './stream-writer.js';
import { checkInt64, storeInt64 } from '../../core/int64.js';

const PAYLOAD_BYTES = 12;
const RECORD_BYTES = HEADER_BYTES + PAYLOAD_BYTES;
const TYPE_AT = PAYLOAD_OFFSET + 8;
const LOW_AT = PAYLOAD_OFFSET + LOW_HALF;
const HIGH_AT = PAYLOAD_OFFSET + HIGH_HALF;
const PUSH = headerOf(payloadSizeCode(PAYLOAD_BYTES), 'OM[') >>> 0;
const POP = headerOf(payloadSizeCode(PAYLOAD_BYTES), 'OM]') >>> 0;
const SET = headerOf(payloadSizeCode(PAYLOAD_BYTES), 'OM=') >>> 0;

function checkText(field: string, text: unknown): void {
  const limit = `1 to ${MAX_LABEL_BYTES} bytes of UTF-8`;
  if (typeof text !== 'string') throw wrongType(field, text, limit);
  const bytes = Buffer.byteLength(text);
  if (bytes === 0 || bytes > MAX_LABEL_BYTES) throw outOfRange(field, text, limit);
}

function checkType(type: unknown): void {
  integerIn('type', type, 0, MARK_TYPES - 1);
}

/** Defines a mark type; see markType in index.ts. */
export function defineMark(
  stream: StreamWriter,
  type: number,
  title: string,
  stack: boolean,
): void {
  checkType(type);
  checkText('title', title);
  const first = shareMark(stream.process!, type, { title, stack });
  if (first.title !== title || first.stack !== stack) {
    const words = `${JSON.stringify(first.title)}${first.stack ? ', a stack' : ''}`;
    throw outOfRange('type', type, `a new one: it is defined as ${words}`);
  }
  if (stream.metadata.marks[type] !== undefined) return;
  adopt(stream, type, first);
  stream.metadata.write();
}

/** Makes a type of the process one of the stream, whose metadata then says what its events mean. */
function adopt(stream: StreamWriter, type: number, { title, stack }: SharedMark): MarkDefinition {
  const mark = { title, stack, labels: new Map<string, string>() };
  stream.metadata.marks[type] = mark;
  stream.markStacks.kinds[type] = stack ? STACK : SINGLE;
  return mark;
}

/** Names a value of a mark type; see markLabel in index.ts. */
export function labelMark(
  stream: StreamWriter,
  type: number,
  value: number | bigint,
  label: string,
): void {
  checkValue(value);
  if (value <= 0) throw outOfRange('value', value, 'an integer from 1 to 2^63 - 1');
  checkText('label', label);
  const { labels } = definition(stream, 'markLabel', type);
  const key = String(value);
  if (labels.get(key) === label) return;
  const low = BigInt.asUintN(32, BigInt(value));
  const first = shareLabel(stream.process!, type, low, { value: key, label });
  if (first.value !== key) {
    throw outOfRange(
      'value',
      value,
      'one that differs from all labelled values in its lower 32 bits',
    );
  }
  if (first.label !== label) {
    throw outOfRange('value', value, `a new one: its label is ${JSON.stringify(first.label)}`);
  }
  labels.set(key, label);
  stream.metadata.labelled(type, key, label);
}

function checkValue(value: unknown): void {
  checkInt64('value', value, 'i64');
  if (value === 0 || value === 0n) throw outOfRange('value', value, 'an integer other than 0');
}

/** Without a native core, a type that another thread may have defined. */
function unrecordedMark(call: string): SharedMark | undefined {
  return recordsNothing() ? { title: 'off', stack: call !== 'markSet' } : undefined;
}

/** A type that any thread of the process has defined. */
function definition(stream: StreamWriter, call: string, type: number): MarkDefinition {
  stream.begin();
  const mark = typeof type === 'number' ? stream.metadata.marks[type] : undefined;
  if (stream.process === undefined) throw stream.closed(call);
  if (mark !== undefined) return mark;
  checkType(type);
  const shared = sharedMark(stream.process, type) ?? unrecordedMark(call);
  if (shared === undefined) throw outOfRange('type', type, 'a type that markType has defined');
  const adopted = adopt(stream, type, shared);
  stream.metadata.adopted();
  return adopted;
}

function wrongKind(call: string, type: number, mark: MarkDefinition): never {
  throw wrongOrder(
    call,
    `mark type ${type} ${mark.stack ? 'is a stack: push and pop its values' : 'is not a stack: set its value'}`,
  );
}

/** The two halves of the value that `split` has checked: low, high. */
const halves = new Int32Array(2);

function split(value: number | bigint): void {
  if (typeof value === 'number' && (value | 0) === value && value !== 0) {
    halves[0] = value;
    halves[1] = value >> 31;
  } else {
    splitWide(value);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

function splitWide(value: number | bigint): void {
  checkValue(value);
  storeInt64(scratch, 0, value, LITTLE);
  halves[0] = scratch.getInt32(LITTLE ? 0 : 4, LITTLE);
  halves[1] = scratch.getInt32(LITTLE ? 4 : 0, LITTLE);
}

/** Everything of a mark event but its clock. */
function writeMark(
  view: DataView,
  at: number,
  header: number,
  type: number,
  low: number,
  high: number,
): void {
  view.setUint32(at, header, true);
  view.setInt32(at + LOW_AT, low, LITTLE);
  view.setInt32(at + HIGH_AT, high, LITTLE);
  view.setInt32(at + TYPE_AT, type, LITTLE);
}

/** Encodes a mark event. */
function encode(stream: StreamWriter, call: string, header: number, type: number): void {
  const { ring } = stream;
  if (ring.free < RECORD_BYTES) {
    // A push without its pop would make every later one wrong, so these are owed, not dropped.
    if (!stream.forceRoom(call, RECORD_BYTES)) {
      if (header === SET) stream.oweSet(type, halves[0]!, halves[1]!);
      else stream.oweStack(type);
      return;
    }
  }
  const { view, position } = ring;
  writeMark(view, position, header, type, halves[0]!, halves[1]!);
  ring.advance(RECORD_BYTES);
  ring.commit();
}

/** Any push: checks everything, and takes values of all 64 bits. */
function pushMark(stream: StreamWriter, type: number, value: number | bigint): void {
  const mark = definition(stream, 'markPush', type);
  if (!mark.stack) wrongKind('markPush', type, mark);
  split(value);
  const { depths, pushed } = stream.markStacks;
  const depth = depths[type]!;
  if (depth === MAX_DEPTH) {
    throw wrongOrder(
      'markPush',
      `mark type ${type} has ${MAX_DEPTH} values, the most that the emulator accepts`,
    );
  }
  const low = halves[0]!;
  const high = halves[1]!;
  encode(stream, 'markPush', PUSH, type);
  const at = 2 * (type * MAX_DEPTH + depth);
  pushed[at] = low;
  pushed[at + 1] = high;
  depths[type] = depth + 1;
}

/** Any pop. */
function popMark(stream: StreamWriter, type: number, value: number | bigint): void {
  const mark = definition(stream, 'markPop', type);
  if (!mark.stack) wrongKind('markPop', type, mark);
  split(value);
  const { depths, pushed } = stream.markStacks;
  const top = depths[type]! - 1;
  const at = 2 * (type * MAX_DEPTH + top);
  if (top < 0 || pushed[at] !== halves[0] || pushed[at + 1] !== halves[1]) {
    wrongPop(stream, type, value);
  }
  encode(stream, 'markPop', POP, type);
  depths[type] = top;
}

function wrongPop(stream: StreamWriter, type: number, value: number | bigint): never {
  const { depths, pushed } = stream.markStacks;
  const depth = depths[type]!;
  if (depth === 0) throw wrongOrder('markPop', `mark type ${type} has no value; push one first`);
  const at = 2 * (type * MAX_DEPTH + depth - 1);
  const top = (BigInt(pushed[at + 1]!) << 32n) | BigInt(pushed[at]! >>> 0);
  throw outOfRange('value', value, `the value on top of mark type ${type}, ${String(top)}`);
}

/** Any set. */
function setMark(stream: StreamWriter, type: number, value: number | bigint): void {
  const mark = definition(stream, 'markSet', type);
  if (mark.stack) wrongKind('markSet', type, mark);
  split(value);
  encode(stream, 'markSet', SET, type);
}

/** Emitters of marks on one stream; see markPush, markPop and markSet in index.ts. */
interface MarkEmitters {
  push: (type: number, value: number | bigint) => void;
  pop: (type: number, value: number | bigint) => void;
  set: (type: number, value: number | bigint) => void;
}

/**
 * Compiles the function for one kind of mark event.
 *
 * @param kind of mark types that it is for.
 * @param account statements that record which values are pushed.
 */
function compileMark(
  stream: StreamWriter,
  name: string,
  header: number,
  any: MarkEmitters['push'],
  kind: number,
  account: { prepare?: string; test?: string; settle: string },
): MarkEmitters['push'] {
  const { kinds, depths, pushed } = stream.markStacks;
  return buildEmitter(
    stream,
    {
      name,
      parameters: ['type', 'value'],
      prepare: account.prepare ?? '',
      test: `typeof type === 'number' && kinds[type] === ${kind} && ${IS_SMALL} && ${account.test ?? 'true'}`,
      bytes: RECORD_BYTES,
      write: `${markStores(header, 'type')}
  ${account.settle}`,
      scope: { kinds, depths, pushed },
    },
    any,
  );
}

/** Statements: everything of a mark event but its clock. */
function markStores(header: number, type: number | string): string {
  return `view.setUint32(start, ${header}, true);
  view.setInt32(start + ${LOW_AT}, value, ${LITTLE});
  view.setInt32(start + ${HIGH_AT}, value >> 31, ${LITTLE});
  view.setInt32(start + ${TYPE_AT}, ${type}, ${LITTLE});`;
}

/** Expression: whether a value is one of 32 bits. */
const IS_SMALL = `typeof value === 'number' && (value | 0) === value && value !== 0`;

/** Makes the function that sets the value of one mark type, which is no stack, on `stream`. */
export function compileMarkSet(
  stream: StreamWriter,
  type: number,
): (value: number | bigint) => void {
  const usual = {
    name: 'markSet',
    parameters: ['value'],
    test: IS_SMALL,
    bytes: RECORD_BYTES,
    write: markStores(SET, type),
  };
  return buildEmitter(stream, usual, (value) => {
    setMark(stream, type, value);
  });
}

/** Makes the functions that emit marks to `stream`. */
export function compileMarks(stream: StreamWriter): MarkEmitters {
  const push: MarkEmitters['push'] = (type, value) => {
    pushMark(stream, type, value);
  };
  const pop: MarkEmitters['pop'] = (type, value) => {
    popMark(stream, type, value);
  };
  const set: MarkEmitters['set'] = (type, value) => {
    setMark(stream, type, value);
  };
  return {
    push: compileMark(stream, 'markPush', PUSH, push, STACK, {
      prepare: 'let depth;',
      test: `(depth = depths[type]) < ${MAX_DEPTH}`,
      settle: `const top = type * ${2 * MAX_DEPTH} + 2 * depth;
  pushed[top] = value;
  pushed[top + 1] = value >> 31;
  depths[type] = depth + 1;`,
    }),
    pop: compileMark(stream, 'markPop', POP, pop, STACK, {
      prepare: 'let depth, top;',
      test: `(depth = depths[type] - 1) >= 0 &&
    pushed[top = type * ${2 * MAX_DEPTH} + 2 * depth] === value && pushed[top + 1] === value >> 31`,
      settle: 'depths[type] = depth;',
    }),
    set: compileMark(stream, 'markSet', SET, set, SINGLE, { settle: '' }),
  };
}
