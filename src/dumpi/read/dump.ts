import { TraceFormatError } from '../../core/errors.js';
import { jsonInteger, jsonValue } from '../../core/json.js';
import type { JsonValue } from '../../core/json.js';
import { quotedText, terminalText } from '../../core/terminal-text.js';
import { callNamed, countName } from '../calls.js';
import type { FieldType, Status } from '../calls.js';
import { BODY_OFFSET, WRITTEN_VERSION } from '../layout.js';
import { datatypeName, valueNames } from './dumpi2ascii-names.js';
import { CallCursor } from './reader.js';
import type { ReadOptions } from './reader.js';
import type { CallRecord, CallTimes, ClockReading, FieldValue } from './call-record.js';
import { readSections } from './section-reader.js';
import type { Sections } from './section-reader.js';

const NANOSECONDS = 1_000_000_000;

/**
 * A line for each record of a trace file: the header, the calls, and what the other sections hold;
 * readable or as JSON. Text is in quotes with control characters escaped, so that a hostile trace
 * cannot steer a terminal. Counts of calls that were never made are left out.
 *
 * @param rank said in every line, where the file is one of a run's.
 * @throws TraceFormatError where the file is not as the format says; what precedes it has
 *   been yielded. TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function* dump(
  path: string,
  json: boolean,
  options: ReadOptions = {},
  rank?: number,
): Generator<string, void> {
  const sections = readSections(path, options);
  const { shown, calls } = linesFor(json, rank);
  if (sections.header !== undefined) yield shown(headerObject(sections));
  yield* calls(CallCursor.ofTrace(sections, options), true);
  for (const record of sectionObjects(sections)) yield shown(record);
}

/**
 * Like {@link dump}, of a file that a process is writing: the calls so far. It has no sections yet, and
 * its last call may be half there.
 */
export function* dumpBeingWritten(
  path: string,
  json: boolean,
  options: ReadOptions = {},
  rank?: number,
): Generator<string, void> {
  const cursor = new CallCursor(path, BODY_OFFSET, undefined, WRITTEN_VERSION, undefined, options);
  try {
    yield* linesFor(json, rank).calls(cursor, false);
  } catch (error) {
    if (!(error instanceof TraceFormatError) || !cursor.reachedLimit) throw error;
  }
}

interface Lines {
  shown: (record: Record<string, JsonValue>) => string;
  /** @param isWhole whether the end of the stream must follow the last call. */
  calls: (cursor: CallCursor, isWhole: boolean) => Generator<string, void>;
}

/** How the lines of a file look, and those of its calls. */
function linesFor(json: boolean, rank: number | undefined): Lines {
  const ofRank = rank === undefined ? {} : { rank };
  const before = rank === undefined ? '' : `rank ${rank} `;
  const shown: Lines['shown'] = ({ kind, ...rest }) =>
    json
      ? JSON.stringify({ kind, ...ofRank, ...rest })
      : `${before}${readable({ kind: kind!, ...rest })}`;
  return {
    shown,
    *calls(cursor, isWhole) {
      try {
        while (isWhole || !cursor.atLimit) {
          const call = cursor.next();
          if (call === undefined) return;
          yield json ? shown(callObject(call)) : `${before}${callLine(call)}`;
        }
      } finally {
        cursor.close();
      }
    },
  };
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
export function callObject(record: CallRecord): Record<string, JsonValue> {
  const { kind, offset, size, name, label, mask, thread, cpu, wall, counters } = record;
  const object: Record<string, JsonValue> = { kind, offset, size, name, label, mask };
  if (thread !== undefined) object['thread'] = thread;
  if (wall !== undefined) object['wall'] = timesObject(wall);
  if (cpu !== undefined) object['cpu'] = timesObject(cpu);
  if (counters !== undefined) {
    object['counters'] = counters.map(({ enter, exit }) => ({
      enter: jsonInteger(enter),
      exit: jsonInteger(exit),
    }));
  }
  object['fields'] = jsonValue(record.fields);
  return object;
}

function headerObject({ header }: Sections): Record<string, JsonValue> {
  const { version, startTime, hostname, username, meshCoordinates, meshSizes } = header!;
  return {
    kind: 'header',
    version: version.join('.'),
    startTime: jsonInteger(startTime),
    hostname,
    username,
    meshCoordinates,
    meshSizes,
  };
}

function* sectionObjects(sections: Sections): Generator<Record<string, JsonValue>, void> {
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
function readable({ kind, ...rest }: Record<string, JsonValue>): string {
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

function timesObject({ start, stop }: CallTimes): { [name: string]: JsonValue } {
  return {
    start: jsonInteger(nanosecondsOf(start)),
    stop: jsonInteger(nanosecondsOf(stop)),
  };
}

/** A clock's reading in nanoseconds. */
export function nanosecondsOf({ seconds, nanoseconds }: ClockReading): bigint {
  return BigInt(seconds) * BigInt(NANOSECONDS) + BigInt(nanoseconds);
}
