import { jsonValue } from '../../core/json.js';
import { quotedText } from '../../core/readable-text.js';
import type { JsonObject } from '../../core/json.js';
import { readKernelEvents } from './kernel-reader.js';
import type { KernelEvent } from './kernel-reader.js';
import { readReferences } from './reference-reader.js';
import type { ReadReferenceOptions, Reference } from './reference-reader.js';

/** A record of either trace. */
export type LaplaceRecord = (Reference & { kind: 'reference' }) | KernelEvent;

const NAMES: Readonly<Record<string, string>> = { r: 'load', w: 'store', i: 'fetch' };
const TIMESTAMP_WIDTH = 16;

/** The records of a reference trace. */
export function* referenceRecords(
  path: string,
  options: ReadReferenceOptions = {},
): Generator<LaplaceRecord, void> {
  for (const reference of readReferences(path, options)) yield { kind: 'reference', ...reference };
}

/**
 * Merges a reference trace and the kernel trace of the same run by their common cycle counter. Each
 * keeps its own order, even if its timestamps go backwards. At the same cycle, kernel records come
 * first.
 */
export function* mergedRecords(
  references: string,
  kernel: string,
  options: ReadReferenceOptions = {},
): Generator<LaplaceRecord, void> {
  const memory = referenceRecords(references, options);
  const events = readKernelEvents(kernel);
  try {
    let reference = memory.next();
    let event = events.next();
    while (reference.done !== true || event.done !== true) {
      if (reference.done === true) {
        yield event.value as KernelEvent;
        event = events.next();
      } else if (event.done === true || isBefore(reference.value, event.value)) {
        yield reference.value;
        reference = memory.next();
      } else {
        yield event.value;
        event = events.next();
      }
    }
  } finally {
    memory.return();
    events.return();
  }
}

/** The end of the kernel trace has no timestamp and comes last. */
function isBefore(reference: LaplaceRecord, event: KernelEvent): boolean {
  if (event.kind === 'end' || reference.kind === 'end') return true;
  return reference.timestamp < event.timestamp;
}

/**
 * One readable line for a record, without a newline. Numbers are hexadecimal, as in the traces. Names
 * are quoted and their control characters escaped, so that a hostile trace cannot control a terminal.
 */
export function dumpLine(record: LaplaceRecord): string {
  if (record.kind === 'end') return `${' '.repeat(TIMESTAMP_WIDTH)} end`;
  const when = record.timestamp.toString(16).padStart(TIMESTAMP_WIDTH);
  if (record.kind === 'reference') {
    const { type, length, space, address } = record;
    const name = NAMES[type] ?? `type ${type}`;
    return `${when} ${name} address ${address.toString(16)} length ${length.toString(16)} space ${space.toString(16)}`;
  }
  const kind = record.kind === 'event' ? `event ${record.tag}` : record.kind;
  const fields = fieldsOf(record).map(
    ([name, value]) =>
      `${name} ${typeof value === 'string' ? quotedText(value) : value.toString(16)}`,
  );
  return [when, kind, ...fields].join(' ');
}

/**
 * The record as an object for `JSON.stringify`. Integers of 64 bits are numbers up to 2^53 - 1 and
 * decimal strings beyond.
 */
export function dumpObject(record: LaplaceRecord): JsonObject {
  return jsonValue(record) as JsonObject;
}

/** Properties of every record. */
const COMMON = new Set(['kind', 'tag', 'timestamp', 'offset']);

export function fieldsOf(event: KernelEvent): [string, string | number | bigint][] {
  return Object.entries<string | number | bigint>({ ...event }).filter(
    ([name]) => !COMMON.has(name),
  );
}
