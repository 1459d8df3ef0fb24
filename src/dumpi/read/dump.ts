import { TraceFormatError } from '../../core/errors.js';
import { jsonInteger, jsonValue } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import { quotedText, terminalText } from '../../core/readable-text.js';
import { noSections, readSections } from './section-reader.js';
import type { Header } from '../sections.js';
import { callNamed, countName } from '../calls.js';
import type { FieldType, Status } from '../calls.js';
import { datatypeName, valueNames } from './dumpi2ascii-names.js';
import { CallCursor } from './reader.js';
import type { ReadOptions } from './reader.js';
import type { CallRecord, CallTimes, ClockReading, FieldValue } from './call-record.js';
import type { Sections } from './section-reader.js';

const NANOSECONDS = 1_000_000_000;

/**
 * A line for each record of a trace file: the header, the calls, and what the other sections hold;
 * readable or as JSON. Text is in quotes with control characters escaped, so that a hostile trace
 * cannot steer a terminal. Counts of calls that were never made are left out.
 *
 * @param rank said in every line, where the file is one of a run's.
 * @param isBeingWritten the calls so far: there are no sections yet, and the last call may be half there.
 * @throws TraceFormatError where the file is not as the format says; what precedes it has
 *   been yielded. TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function* dump(
  path: string,
  json: boolean,
  options: ReadOptions = {},
  rank?: number,
  isBeingWritten = false,
): Generator<string, void> {
  const before = rank === undefined ? '' : `rank ${rank} `;
  const shown = ({ kind, ...rest }: JsonObject): string =>
    json ? JSON.stringify({ kind, rank, ...rest }) : `${before}${readable({ kind, ...rest })}`;
  const sections = isBeingWritten ? noSections(path) : readSections(path, options);
  if (sections.header !== undefined) yield shown(headerObject(sections.header));
  const cursor = CallCursor.ofTrace(sections, options);
  try {
    for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
      yield json ? shown(callObject(call)) : `${before}${callLine(call)}`;
    }
  } catch (error) {
    const isHalf = error instanceof TraceFormatError && cursor.reachedLimit;
    if (!isBeingWritten || !isHalf) throw error;
  } finally {
    cursor.close();
  }
  for (const record of sectionObjects(sections)) yield shown(record);
}

/** One readable line for a call, without the line's end. */
function callLine(record: CallRecord): string {
  const { name, thread, cpu, wall, counters } = record;
  const values = record.fields as Readonly<Record<string, FieldValue | undefined>>;
  const shown = callNamed(name)!
    .fields.filter((field) => values[field.name] !== undefined)
    .map((field) => `${field.name}=${valueText(field.type, values[field.name]!)}`);
  const parts = [`${name}(${shown.join(', ')})`];
  if (thread !== undefined) parts.push(`thread ${thread}`);
  if (wall !== undefined) parts.push(`wall ${timesText(wall)}`);
  if (cpu !== undefined) parts.push(`cpu ${timesText(cpu)}`);
  if (counters !== undefined) {
    const readings = counters.map(({ enter, exit }) => `${enter.toString()}..${exit.toString()}`);
    parts.push(`counters ${readings.join(' ')}`);
  }
  return parts.join(' ');
}

/** A call as an object for `JSON.stringify`; times are nanoseconds. */
export function callObject(record: CallRecord): JsonObject {
  const { kind, offset, size, name, label, mask, thread, counters, fields } = record;
  const wall = record.wall && timesObject(record.wall);
  const cpu = record.cpu && timesObject(record.cpu);
  const call = { kind, offset, size, name, label, mask, thread, wall, cpu, counters, fields };
  return jsonValue(call) as JsonObject;
}

function headerObject(header: Header): JsonObject {
  const version = header.version.join('.');
  return { kind: 'header', ...header, version, startTime: jsonInteger(header.startTime) };
}

function* sectionObjects(sections: Sections): Generator<JsonObject, void> {
  for (const [key, value] of sections.keyvals) yield { kind: 'keyval', key, value };
  for (const [counter, label] of (sections.counterLabels ?? []).entries()) {
    yield { kind: 'counterLabel', counter, label };
  }
  for (const [datatype, size] of (sections.datatypeSizes ?? []).entries()) {
    yield { kind: 'datatypeSize', datatype, name: datatypeName(datatype), size };
  }
  for (const { address, name } of sections.functionNames) {
    yield { kind: 'functionName', address: jsonInteger(address), name };
  }
  const { footer } = sections;
  for (const [label, called] of (footer?.calls ?? []).entries()) {
    const ignored = footer!.ignored[label]!;
    if (called + ignored > 0) yield { kind: 'count', name: countName(label), called, ignored };
  }
}

/** `kind name=value …` of an object whose values are no objects. */
function readable({ kind, ...rest }: JsonObject): string {
  const values = Object.entries(rest).map(
    ([name, value]) => ` ${name}=${terminalText(JSON.stringify(value))}`,
  );
  return `${kind as string}${values.join('')}`;
}

function valueText(type: FieldType, value: FieldValue): string {
  if (value === null) return 'ignored';
  if (Array.isArray(value)) {
    return `[${value.map((element) => valueText(type, element)).join(', ')}]`;
  }
  if (typeof value === 'string') return quotedText(value);
  if (typeof value === 'object') return statusText(value);
  const name = typeof value === 'number' ? valueNames[type]?.nameOf(value) : undefined;
  const isPredefined = name !== undefined && !name.startsWith('user-');
  return isPredefined ? name.replace(/^D?MPI_/, '') : value.toString();
}

function statusText({ bytes, source, tag, cancelled, error }: Status): string {
  return `{bytes=${bytes}, source=${source}, tag=${tag}, cancelled=${cancelled}, error=${error}}`;
}

function timesText({ start, stop }: CallTimes): string {
  const text = ({ seconds, nanoseconds }: ClockReading): string =>
    `${seconds}.${String(nanoseconds).padStart(9, '0')}`;
  return `${text(start)}..${text(stop)}`;
}

function timesObject({ start, stop }: CallTimes): { start: bigint; stop: bigint } {
  return { start: nanosecondsOf(start), stop: nanosecondsOf(stop) };
}

export function nanosecondsOf({ seconds, nanoseconds }: ClockReading): bigint {
  return BigInt(seconds) * BigInt(NANOSECONDS) + BigInt(nanoseconds);
}
