import { callNamed, countName } from '../calls.js';
import type { CallName, Field, Status } from '../calls.js';
import { datatypeName } from './dumpi2ascii-names.js';
import { CallCursor } from './reader.js';
import type { ReadOptions } from './reader.js';
import type { Biases, CallRecord, CallTimes, ClockReading, FieldValue } from './call-record.js';
import { readSections } from './section-reader.js';
import type { Header } from '../sections.js';
import type { Sections } from './section-reader.js';
import {
  rowCount,
  integerLine,
  requestType,
  arrayLine,
  integerRowsLines,
  textRowsLine,
  statusesText,
  printed,
} from './dumpi2ascii-values.js';

/**
 * Calls whose arguments the format's own reader prints in another order than that of the record:
 * that of MPI's prototypes.
 */
const printedOrder: Partial<Record<CallName, readonly string[]>> = {
  MPI_Gather: ['commrank', 'sendcount', 'sendtype', 'recvcount', 'recvtype', 'root', 'comm'],
  MPI_Gatherv: [
    'commrank',
    'commsize',
    'sendcount',
    'sendtype',
    'recvcounts',
    'displs',
    'recvtype',
    'root',
    'comm',
  ],
  MPI_Scatter: ['commrank', 'sendcount', 'sendtype', 'recvcount', 'recvtype', 'root', 'comm'],
  MPI_Scatterv: [
    'commrank',
    'commsize',
    'sendcounts',
    'displs',
    'sendtype',
    'recvcount',
    'recvtype',
    'root',
    'comm',
  ],
  MPI_Comm_spawn: [
    'oldcommrank',
    'command',
    'argv',
    'maxprocs',
    'info',
    'root',
    'oldcomm',
    'newcomm',
    'errcodes',
  ],
  MPI_Comm_spawn_multiple: [
    'totprocs',
    'oldcommrank',
    'count',
    'commands',
    'argvs',
    'maxprocs',
    'info',
    'root',
    'oldcomm',
    'newcomm',
    'errcodes',
  ],
  MPIO_Testany: ['count', 'requests', 'index', 'flag', 'statuses'],
};

/**
 * Prints a trace file as `dumpi2ascii -a` of sst-dumpi 13.1 does, line for line: the header, the
 * calls, the keyvals, the counts of the footer, counter labels, function names and datatype sizes. As
 * there, the start time is in the time zone of the process, and times past 65,535 s over the bias are
 * those that the record's 16 bits say.
 *
 * Where that program reads beyond an array or dies (a record whose array and count differ, two pairs
 * or more), this prints what is there. Text is printed up to a NUL. With the option
 * `encoding: 'latin1'` a character is a byte, and lines that are written so are that program's
 * byte for byte; otherwise bytes that are not UTF-8 are U+FFFD.
 *
 * @throws TraceFormatError where the file is not as the format says; what precedes it has
 *   been yielded. TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function* dumpi2ascii(path: string, options: ReadOptions = {}): Generator<string, void> {
  const sections = readSections(path, options);
  yield* headerLines(sections.header);
  yield* callLines(sections, options);
  yield `Total keyvals: ${sections.keyvals.length}`;
  for (const [key, value] of sections.keyvals) yield `${printed(key)}=${printed(value)}`;
  yield* footerLines(sections);
  const labels = sections.counterLabels ?? [];
  yield `Performance counters: ${labels.length}`;
  for (const label of labels) yield `    ${printed(label)}`;
  for (const { address, name } of sections.functionNames) {
    yield `Function address ${address.toString()} has label ${printed(name)}`;
  }
  for (const [handle, size] of (sections.datatypeSizes ?? []).entries()) {
    yield `Datatype ${handle} (${datatypeName(handle)}) has size ${size}`;
  }
}

function* headerLines(header: Header | undefined): Generator<string, void> {
  const { version, startTime, hostname, username, meshCoordinates, meshSizes } = header ?? {
    version: [0, 0, 0],
    startTime: 0n,
    hostname: '',
    username: '',
    meshCoordinates: [],
    meshSizes: [],
  };
  yield `version=${version.join('.')}`;
  yield `starttime=${localTime(startTime)}`;
  yield `hostname=${printed(hostname)}`;
  yield `username=${printed(username)}`;
  yield `meshdim=${meshCoordinates.length}`;
  yield `meshsize=[${meshSizes.join(', ')}]`;
  yield `meshcrd=[${meshCoordinates.join(', ')}]`;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** A time as C's `ctime` says it: `Sat Nov 21 00:17:10 2026`. */
function localTime(seconds: bigint): string {
  const time = new Date(Number(BigInt.asIntN(64, seconds)) * 1000);
  if (Number.isNaN(time.getTime())) return '(null)';
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  const day = String(time.getDate()).padStart(2);
  return `${DAYS[time.getDay()]!} ${MONTHS[time.getMonth()]!} ${day} ${clock} ${time.getFullYear()}`;
}

function* footerLines({ footer }: Sections): Generator<string, void> {
  for (let label = 0; label < 291; label++) {
    // The counts are unsigned, but printed as if they had a sign.
    const called = (footer?.calls[label] ?? 0) | 0;
    const ignored = (footer?.ignored[label] ?? 0) | 0;
    yield `${countName(label)} called ${called} times and ignored ${ignored} times`;
  }
}

function* callLines(sections: Sections, options: ReadOptions): Generator<string, void> {
  const functionNames = new Map<bigint, string>();
  for (const { address, name } of sections.functionNames) {
    if (!functionNames.has(address)) functionNames.set(address, printed(name));
  }
  const cursor = CallCursor.ofTrace(sections, options);
  const printing = new CallPrinting(cursor.biases, functionNames, sections.counterLabels ?? []);
  let finalized = false;
  try {
    for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
      yield* printing.lines(call);
      // Traces of old ended with an MPI_Finalize, and a label 0 after it was no MPI_Send.
      if (finalized && call.name === 'MPI_Send') return;
      if (call.name === 'MPI_Finalize') finalized = true;
    }
  } finally {
    cursor.close();
  }
}

/** The values of a call's fields by name, with 0 and NULL where its record has none. */
type Values = Readonly<Record<string, FieldValue | undefined>>;

class CallPrinting {
  readonly #biases: Biases;
  readonly #functionNames: ReadonlyMap<bigint, string>;
  readonly #counterLabels: readonly string[];

  constructor(
    biases: Biases,
    functionNames: ReadonlyMap<bigint, string>,
    counterLabels: readonly string[],
  ) {
    this.#biases = biases;
    this.#functionNames = functionNames;
    this.#counterLabels = counterLabels.map(printed);
  }

  *lines(record: CallRecord): Generator<string, void> {
    const { fields } = callNamed(record.name)!;
    const values = record.fields as Values;
    const counts = printedCounts(fields, values);
    yield `${record.name} entering at ${this.#times(record, 'start')}`;
    yield* this.#counters(record, 'enter');
    const order = printedOrder[record.name];
    const inOrder = order
      ? order.map((name) => fields.find((field) => field.name === name)!)
      : fields;
    let unfinished = '';
    for (const field of inOrder) {
      for (const line of this.#fieldLines(field, values[field.name], counts)) {
        yield unfinished + line;
        unfinished = '';
      }
      // The printing of an array of arrays forgets its last line's end.
      if (field.dimensions === 2 && field.encoding === 'i32' && rowCount(field, counts) > 0) {
        unfinished = ']';
      }
    }
    yield `${unfinished}${record.name} returning at ${this.#times(record, 'stop')}`;
    yield* this.#counters(record, 'exit');
  }

  #times({ cpu, wall, thread }: CallRecord, which: keyof CallTimes): string {
    const at = (times: CallTimes | undefined, bias: number): string =>
      times === undefined ? '0.000000000' : clockText(times[which], bias);
    const wallText = at(wall, this.#biases.wall);
    const cpuText = at(cpu, this.#biases.cpu);
    return `walltime ${wallText}, cputime ${cpuText} seconds in thread ${thread ?? 0}.`;
  }

  *#counters({ counters }: CallRecord, which: 'enter' | 'exit'): Generator<string, void> {
    if (counters === undefined || counters.length === 0) return;
    const readings = counters.map(
      (counter, i) => `${this.#counterLabels[i] ?? ''}=${counter[which].toString()}`,
    );
    yield `Perfcounters: [${readings.join(', ')}]`;
  }

  *#fieldLines(
    field: Field,
    value: FieldValue | undefined,
    counts: ReadonlyMap<string, number>,
  ): Generator<string, void> {
    const { name, type, dimensions } = field;
    if (type === 'chars' && name === 'argv' && counts.has('argc')) {
      yield `int argc=${counts.get('argc')!}`;
    }
    if (dimensions === 0) yield this.#oneLine(field, value, counts);
    else if (dimensions === 1) yield arrayLine(field, value, counts);
    else if (type === 'chars') yield textRowsLine(field, value, counts);
    else yield* integerRowsLines(field, value, counts);
  }

  #oneLine(
    { name, type }: Field,
    value: FieldValue | undefined,
    counts: ReadonlyMap<string, number>,
  ): string {
    switch (type) {
      case 'chars':
        return `string ${name}="${typeof value === 'string' ? printed(value) : '(null)'}"`;
      case 'status':
        return `MPI_Status ${name}=${statusesText(value ? [value as Status] : [], 1)}`;
      case 'request':
      case 'ioRequest':
        return `${requestType(type)} ${name}=[${(value as number | undefined) ?? 0}]`;
      case 'int64': {
        return `int64_t ${name}=${(value as bigint).toString()}`;
      }
      case 'address': {
        const address = value as bigint;
        const text = this.#functionNames.get(address) ?? '(null)';
        // The format's own reader prints it as if it had a sign.
        return `int fn=${BigInt.asIntN(64, address).toString()} ("${text}")`;
      }
      default: {
        const number = counts.get(name) ?? (value as number | undefined) ?? 0;
        return integerLine(type, name, number);
      }
    }
  }
}

/**
 * The counts as the format's own reader has them when it prints: it stores the length of an array in
 * the field that counts it, whatever stood there.
 */
export function printedCounts(
  fields: readonly Field[],
  values: Values,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { name, encoding, dimensions, count, rootOnly } of fields) {
    const value = values[name];
    if (typeof value === 'number') counts.set(name, value);
    if (dimensions === 0 || encoding === 'status') continue;
    if (count !== undefined) {
      if (value !== undefined) counts.set(count, (value as unknown[]).length);
    } else if (!rootOnly) {
      counts.set('argc', (value as unknown[]).length);
    }
  }
  return counts;
}

function clockText({ seconds, nanoseconds }: ClockReading, bias: number): string {
  const second = (bias + ((seconds - bias) & 0xffff)) | 0;
  const nanosecond = nanoseconds | 0;
  const digits = String(Math.abs(nanosecond));
  return nanosecond < 0
    ? `${second}.-${digits.padStart(8, '0')}`
    : `${second}.${digits.padStart(9, '0')}`;
}
