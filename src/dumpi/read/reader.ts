import { TraceFormatError } from '../../core/errors.js';
import { callLabelled, ENCODED_BYTES, END_OF_STREAM_LABEL, FUNCTION_EXIT_LABEL } from '../calls.js';
import type { Call, Field, FieldEncoding, Status } from '../calls.js';
import { FieldCursor } from './field-cursor.js';
import type { FieldCursorOptions, TextEncoding } from './field-cursor.js';
import {
  ANNOTATION,
  BODY_OFFSET,
  COUNT_BYTES,
  COUNTER_BYTES,
  MASK_COUNTERS,
  MASK_CPU_TIME,
  MASK_STATUSES,
  MASK_THREAD,
  MASK_WALL_TIME,
  SINGLE_ARGC_VERSION,
  STATUS_RECORD_BYTES,
  STATUS_TAG_VERSION,
  TURN_SECONDS,
  TURN_TEXTS,
  WRITTEN_VERSION,
} from '../layout.js';
import { isAtLeast } from '../sections.js';
import { bodyLimit, NO_VERSION, readSections } from './section-reader.js';
import type { FunctionName, Version } from '../sections.js';
import type { Sections } from './section-reader.js';
import type { CallTimes, CounterReading, CallRecord, Biases, FieldValue } from './call-record.js';

/** Options of the readers. */
export interface ReadOptions {
  /** Largest call or section in bytes that is read: 64 MiB unless set. */
  maxRecordBytes?: number;
  /** Called now and then with the bytes done and the bytes in all. */
  onProgress?: ((done: number, total: number) => void) | undefined;
  /**
   * How bytes of text become characters: `utf8` (default), with U+FFFD for what is not UTF-8, or
   * `latin1`, each byte one character, so that the text can be written again as it was.
   */
  encoding?: TextEncoding;
}

/**
 * Reads the calls of a trace file from front to back, in memory that does not grow with the file.
 *
 * @param sections What {@link readSections} gave for the file, if it was read before.
 * @throws TraceFormatError at the first call that is not as the format says; the calls before it
 *   have been yielded. TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function* readCalls(
  path: string,
  options: ReadOptions = {},
  sections: Sections = readSections(path, options),
): Generator<CallRecord, void> {
  const cursor = CallCursor.ofTrace(sections, options);
  try {
    for (let call = cursor.next(); call !== undefined; call = cursor.next()) yield call;
  } finally {
    cursor.close();
  }
}

/** How far the clock may go back from call to call before that is taken for its 16 bits wrapping. */
const STEP_BACK_SECONDS = 60;

type Clock = 'cpu' | 'wall';

/** Functions whose exit says that the seconds of a clock begin again. */
type TurnFunctions = Readonly<Record<Clock, ReadonlySet<FieldValue>>>;

function turnFunctions(names: readonly FunctionName[]): TurnFunctions {
  const addressesOf = (text: string): ReadonlySet<FieldValue> =>
    new Set(names.filter(({ name }) => name === ANNOTATION + text).map(({ address }) => address));
  return { cpu: addressesOf(TURN_TEXTS.cpu), wall: addressesOf(TURN_TEXTS.wall) };
}

/** A body, and what is known of it. */
interface Body {
  /** Bytes from the start of the file to its biases. */
  from: number;
  /** Whether the end of the stream must follow the last call. */
  isWhole: boolean;
  /** Version of the library that wrote it. */
  version: Version;
  /** How many counters a call must have that has any; undefined: any number. */
  counters: number | undefined;
  /** The functions whose calls say the turns of the clocks. */
  turns: TurnFunctions;
}

const GROWING_BODY: Body = {
  from: BODY_OFFSET,
  isWhole: false,
  version: WRITTEN_VERSION,
  counters: undefined,
  turns: { cpu: new Set(), wall: new Set() },
};

/** Steps through the calls of a body. */
export class CallCursor {
  readonly biases: Biases;
  readonly #cursor: FieldCursor;
  readonly #body: Body;
  /** The seconds of the last call's end over the bias, carried. */
  readonly #lastSeconds: Record<Clock, number | undefined> = { cpu: undefined, wall: undefined };
  /** Seconds that the clocks' turns so far add, where annotations say these. */
  readonly #turned: Record<Clock, number> = { cpu: 0, wall: 0 };
  #ended = false;

  /** @param limit bytes from the start of the file to the end of what may be the body. */
  constructor(path: string, options: FieldCursorOptions = {}, limit?: number, body = GROWING_BODY) {
    this.#body = body;
    this.#cursor = new FieldCursor(path, body.from, limit, options);
    try {
      this.biases = { cpu: this.#cursor.i32('CPU bias'), wall: this.#cursor.i32('wall bias') };
    } catch (error) {
      this.#cursor.close();
      throw error;
    }
  }

  /** A cursor for the body of a trace. One that is being written has no sections, see `noSections`. */
  static ofTrace(sections: Sections, options: FieldCursorOptions = {}): CallCursor {
    const { path, index, indexOffset, header, counterLabels, functionNames } = sections;
    if (indexOffset === 0) return new CallCursor(path, options);
    if (index.body === 0) {
      throw new TraceFormatError(path, indexOffset, 'the index names no body', { field: 'body' });
    }
    return new CallCursor(path, options, bodyLimit(sections), {
      from: index.body,
      isWhole: true,
      version: header?.version ?? NO_VERSION,
      counters: counterLabels?.length,
      turns: turnFunctions(functionNames),
    });
  }

  /** Moves to where a call begins. The times of what is read there may be wrong by turns of the clock. */
  seek(offset: number): void {
    this.#cursor.seek(offset);
    this.#ended = false;
  }

  /** Bytes from the start of the file to what comes next. */
  get offset(): number {
    return this.#cursor.offset;
  }

  /** Whether the end of the stream has been read. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether a record could not be read because it goes on after the end of what may be the body. */
  get reachedLimit(): boolean {
    return this.#cursor.reachedLimit;
  }

  /**
   * The next call, or undefined once the end of the stream has been read, or of a body that grows.
   *
   * @throws TraceFormatError when what lies there is no call.
   */
  next(): CallRecord | undefined {
    if (this.#ended) return undefined;
    const cursor = this.#cursor;
    const { offset } = cursor;
    if (!this.#body.isWhole && cursor.remaining <= 0) return undefined;
    cursor.beginRecord();
    if (cursor.remaining === 0) throw cursor.fault('the body does not end', 'label');
    const label = cursor.u16('label');
    if (label === END_OF_STREAM_LABEL) {
      this.#ended = true;
      return undefined;
    }
    const call = callLabelled(label);
    if (call === undefined) {
      throw cursor.fault(
        `the label is ${label}, which no call has`,
        'label',
        label,
        '0 to 293 without 128 and 290',
      );
    }
    const mask = cursor.u8('mask');
    const thread = mask & MASK_THREAD ? cursor.u16('thread') : undefined;
    const cpu = mask & MASK_CPU_TIME ? this.#times('CPU time', 'cpu') : undefined;
    const wall = mask & MASK_WALL_TIME ? this.#times('wall time', 'wall') : undefined;
    const counters = mask & MASK_COUNTERS ? this.#counterReadings() : undefined;
    const fields = this.#fields(call, (mask & MASK_STATUSES) !== 0);
    if (label === FUNCTION_EXIT_LABEL) {
      this.#turn('cpu', cpu, fields['fn']);
      this.#turn('wall', wall, fields['fn']);
    }
    const size = cursor.offset - offset;
    return {
      kind: 'call',
      offset,
      size,
      label,
      name: call.name,
      mask,
      thread,
      cpu,
      wall,
      counters,
      fields,
    } as unknown as CallRecord;
  }

  close(): void {
    this.#cursor.close();
  }

  #times(field: string, clock: Clock): CallTimes {
    const cursor = this.#cursor;
    const startSeconds = cursor.u16(field);
    const startNanoseconds = cursor.u32(field);
    const stopSeconds = cursor.u16(field);
    const stopNanoseconds = cursor.u32(field);
    const stop =
      this.#body.turns[clock].size === 0
        ? carried(stopSeconds, this.#lastSeconds[clock] ?? stopSeconds, STEP_BACK_SECONDS)
        : this.#turned[clock] + stopSeconds;
    this.#lastSeconds[clock] = stop;
    const start = startBefore(startSeconds, stop, stopSeconds);
    const bias = this.biases[clock];
    return {
      start: { seconds: bias + start, nanoseconds: startNanoseconds },
      stop: { seconds: bias + stop, nanoseconds: stopNanoseconds },
    };
  }

  /** Moves a clock by a turn when the exit of a function, which is at 0 s of the new one, says so. */
  #turn(clock: Clock, times: CallTimes | undefined, fn: FieldValue | undefined): void {
    if (times === undefined || fn === undefined || !this.#body.turns[clock].has(fn)) return;
    // A program's own annotation of this text is hardly at 0 s and 0 ns.
    const { seconds, nanoseconds } = times.stop;
    if (seconds !== this.biases[clock] + this.#turned[clock] || nanoseconds !== 0) return;
    this.#turned[clock] += TURN_SECONDS;
    times.start.seconds += TURN_SECONDS;
    times.stop.seconds += TURN_SECONDS;
  }

  #counterReadings(): CounterReading[] {
    const cursor = this.#cursor;
    const { counters: expected } = this.#body;
    const count = cursor.u8('counters');
    if (expected !== undefined && count !== expected) {
      throw cursor.fault(
        `the call has ${count} counters, but the trace has labels for ${expected}`,
        'counters',
        count,
        `${expected}`,
      );
    }
    if (count * COUNTER_BYTES > cursor.remaining) {
      throw cursor.fault(`the ${count} counters of the call are cut`, 'counters', count);
    }
    const readings: CounterReading[] = [];
    for (let i = 0; i < count; i++) {
      readings.push({ enter: cursor.i64('counter'), exit: cursor.i64('counter') });
    }
    return readings;
  }

  #fields(call: Call, statuses: boolean): Record<string, FieldValue> {
    const values: Record<string, FieldValue> = {};
    const { rankField } = call;
    for (const field of call.fields) {
      if (field.rootOnly && values[rankField!] !== values['root']) continue;
      values[field.name] = this.#field(field, statuses);
    }
    return values;
  }

  #field(field: Field, statuses: boolean): FieldValue {
    const { name, encoding, dimensions } = field;
    if (encoding === 'status') return this.#statuses(field, statuses);
    if (dimensions === 0) return this.#one(encoding, name);
    // Very old traces say twice how many arguments the process had.
    if (field.count === undefined && name === 'argv' && !field.rootOnly) this.#skipSecondArgc();
    return dimensions === 1 ? this.#array(encoding, name) : this.#rows(encoding, name);
  }

  #one(encoding: FieldEncoding, name: string): number | bigint | string {
    const cursor = this.#cursor;
    switch (encoding) {
      case 'i32':
        return cursor.i32(name);
      case 'i16':
        return cursor.i16(name);
      case 'u8':
        return cursor.u8(name);
      case 'i8':
        return cursor.i8(name);
      case 'i64':
        return cursor.i64(name);
      case 'u64':
        return cursor.u64(name);
      default:
        return cursor.text(name, cursor.count(name, 1));
    }
  }

  #array(encoding: FieldEncoding, name: string): number[] | string[] {
    const count = this.#cursor.count(name, ENCODED_BYTES[encoding]);
    const values: (number | bigint | string)[] = [];
    for (let i = 0; i < count; i++) values.push(this.#one(encoding, name));
    return values as number[] | string[];
  }

  #rows(encoding: FieldEncoding, name: string): number[][] | string[][] {
    const count = this.#cursor.count(name, COUNT_BYTES);
    const rows: (number[] | string[])[] = [];
    for (let i = 0; i < count; i++) rows.push(this.#array(encoding, name));
    return rows as number[][] | string[][];
  }

  #statuses({ name, dimensions }: Field, stored: boolean): Status | Status[] | null {
    const many = dimensions === 1;
    if (!stored) return many ? [] : null;
    const cursor = this.#cursor;
    const hasTag = isAtLeast(this.#body.version, STATUS_TAG_VERSION);
    const count = cursor.count(name, hasTag ? STATUS_RECORD_BYTES : STATUS_RECORD_BYTES - 4);
    if (!many && count > 1) {
      throw cursor.fault(`${name} has ${count} statuses`, name, count, 'at most 1');
    }
    const statuses: Status[] = [];
    for (let i = 0; i < count; i++) {
      const bytes = cursor.i32(name);
      const source = cursor.i32(name);
      const cancelled = cursor.i8(name);
      const error = cursor.i8(name);
      statuses.push({ bytes, source, tag: hasTag ? cursor.i32(name) : -1, cancelled, error });
    }
    return many ? statuses : (statuses[0] ?? null);
  }

  #skipSecondArgc(): void {
    if (!isAtLeast(this.#body.version, SINGLE_ARGC_VERSION)) this.#cursor.i32('argc');
  }
}

/**
 * The seconds over the bias whose low 16 bits are `low`, near `reference`: at most `back` seconds in
 * front of it.
 */
function carried(low: number, reference: number, back: number): number {
  const near = reference + ((low - reference + back) & 0xffff) - back;
  return near < 0 ? near + TURN_SECONDS : near;
}

/**
 * The seconds of the start of a call that ended at `stop`: a call begins before it ends, and may have
 * taken as long as the clock can measure. A start that the record says to be a little later is left so.
 */
function startBefore(low: number, stop: number, stopLow: number): number {
  if (low > stopLow && low - stopLow <= STEP_BACK_SECONDS) return stop + (low - stopLow);
  return carried(low, stop, TURN_SECONDS - 1);
}
