import {
  COUNTER_OFFSET,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  SIZE_OFFSET,
  STREAM_OFFSET,
} from '../layout.js';
import { TYPE_BYTES } from './value.js';
import type { AttributeType } from './value.js';

/**
 * The source text of what writes events: the same bytes as encoder.ts, with what is known in advance as constants. A
 * compiled function has call sites of its own, so V8 knows what it stores.
 */

/**
 * Statements that store constant bytes at `base`, four at a time. The bytes of signed and unsigned numbers are the same,
 * but V8's middle compiler makes a call of each store of an unsigned one, which takes six times as long.
 */
export function constantStores(bytes: Buffer, base: string): string[] {
  const stores: string[] = [];
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    stores.push(`view.setInt32(${base} + ${at}, ${bytes.readInt32BE(at)});`);
  }
  if (at + 2 <= bytes.length) {
    stores.push(`view.setInt16(${base} + ${at}, ${bytes.readInt16BE(at)});`);
    at += 2;
  }
  if (at < bytes.length) stores.push(`view.setInt8(${base} + ${at}, ${bytes.readInt8(at)});`);
  return stores;
}

/** A text as events contain it: u16 bytes of UTF-8, then those. */
export function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The bytes of an attribute before its value. */
export function attributeHead(name: string, type: AttributeType): Buffer {
  return Buffer.concat([prefixed(name), Buffer.of(TYPE_BYTES[type])]);
}

/** Statements: store a time, a double, at these offsets of an event at `start`. */
export function timeStores(time: string, ...offsets: readonly number[]): string {
  return offsets
    .map(
      (offset) => `view.setInt32(start + ${offset}, (${time} * ${2 ** -32}) | 0);
  view.setInt32(start + ${offset + 4}, ${time} | 0);`,
    )
    .join('\n  ');
}

/** Statements: the magic and the size of a packet at `start`. */
export function packetStores(size: string): string {
  return `view.setInt32(start + ${MAGIC_OFFSET}, ${EVENT_MAGIC | 0});
  view.setInt32(start + ${SIZE_OFFSET}, ${size});`;
}

/** Statements: whose event it is that begins at `start`. */
export function headStores(stream: number | string, counter: number | string): string {
  return `view.setInt32(start + ${MAGIC_OFFSET}, ${EVENT_MAGIC | 0});
  view.setInt32(start + ${STREAM_OFFSET}, ${stream} | 0);
  view.setInt32(start + ${COUNTER_OFFSET}, ${counter} | 0);`;
}

/** Statements: count the characters of a value, and find out whether it is usual. */
export function measureValue(value: string): string {
  return `if (typeof ${value} === 'string') characters += ${value}.length;
  else if (typeof ${value} !== 'number' && ${value} !== undefined && !isUsual(${value})) areUsual = false;`;
}

/**
 * Statements: store a value and its type, and move `at` past them.
 *
 * @param writeOther the function for what is no string and no u32.
 * @param writeText expression: stores a text at an offset, and is the number of its bytes.
 */
export function writeValueAt(
  value: string,
  writeOther: string,
  writeText = (at: string): string => `writeUtf8(bytes, ${at}, ${value})`,
): string {
  return `if (typeof ${value} === 'string') {
      view.setInt8(at, ${TYPE_BYTES.string});
      const count = ${writeText('at + 3')};
      view.setInt16(at + 1, count);
      at += 3 + count;
    } else if (typeof ${value} === 'number' && ${value} >>> 0 === ${value} && (${value} !== 0 || 1 / ${value} > 0)) {
      view.setInt8(at, ${TYPE_BYTES.u64});
      view.setInt32(at + 1, 0);
      view.setInt32(at + 5, ${value} | 0);
      at += 9;
    } else {
      at = ${writeOther}(view, bytes, at, ${value});
    }`;
}
