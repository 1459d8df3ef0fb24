import { isFloat } from '../../core/json.js';
import { isInt64, ProtobufBytes } from '../protobuf-bytes.js';
import * as schema from './schema.js';
import { ENTRY_IID, ENTRY_TEXT } from './schema.js';

/** A table that has grown beyond these begins anew, so that a reader's and our memory stay bounded. */
const MAX_TEXTS = 1 << 15;
const MAX_CHARACTERS = 1 << 22;
/** Longer texts are never interned. */
const LONGEST = 1 << 10;

/** The texts of one table of InternedData, by number. */
class InternedTexts {
  readonly #tag: number;
  readonly #pending: ProtobufBytes;
  readonly #numbers = new Map<string, number>();
  readonly #afterFirst: boolean;
  #next = 1;
  #characters = 0;

  /**
   * @param tag of the table.
   * @param pending takes the new entries, for the packet that first refers to them.
   * @param afterFirst whether a text gets a number only when it comes again.
   */
  constructor(tag: number, pending: ProtobufBytes, afterFirst: boolean) {
    this.#tag = tag;
    this.#pending = pending;
    this.#afterFirst = afterFirst;
  }

  get isFull(): boolean {
    return this.#numbers.size > MAX_TEXTS || this.#characters > MAX_CHARACTERS;
  }

  /** The number of a text; 0: the event says it itself. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined && known !== 0) return known;
    if (text.length > LONGEST) return 0;
    if (known === undefined) {
      this.#characters += text.length;
      if (this.#afterFirst) {
        this.#numbers.set(text, 0);
        return 0;
      }
    }
    const number = this.#next++;
    this.#numbers.set(text, number);
    const pending = this.#pending;
    const entry = pending.begin(this.#tag);
    pending.uint(ENTRY_IID, number);
    pending.text(ENTRY_TEXT, text);
    pending.end(entry);
    return number;
  }

  clear(): void {
    this.#numbers.clear();
    this.#next = 1;
    this.#characters = 0;
  }
}

const CHUNK_BYTES = 256 << 10;
/** Every packet is of one sequence, so that one set of numbers serves all. */
const SEQUENCE = 1;
/** Times begin there, because viewers take 0 for no time. */
const FIRST_TIME = 1_000_000_000;
/** The largest double below 2^63. */
const LAST_TIME = 2 ** 63 - 1024;
/** Texts of that length take no more space than the number of an interned one. */
const SHORT_TEXT = 2;
const MAX_DEPTH = 8;
/** A packet is far below the 64 MiB that protobuf libraries read at once. */
const MAX_EVENT_BYTES = 8 << 20;
/** Names the count of attributes that an event has no room for. */
const LEFT_OUT = 'further attributes';

const UNITS = new Map([
  ['ns', schema.UNIT_TIME_NS],
  ['count', schema.UNIT_COUNT],
  ['bytes', schema.UNIT_SIZE_BYTES],
]);

/** Nanoseconds since the zero of the picture: a bigint where a double has not all of their digits. */
export type PictureTime = number | bigint;

/** The unit of a counter: one that viewers know, or a name. */
export type CounterUnit = 'ns' | 'count' | 'bytes' | (string & {});

/**
 * Writes TracePackets. Each is complete by itself and refers to none after it, so a file that was cut at
 * any packet can be opened. Times are nanoseconds since the zero of the file, from 0 on.
 */
export class PacketWriter {
  readonly #bytes = new ProtobufBytes(2 * CHUNK_BYTES);
  readonly #interned = new ProtobufBytes(1 << 12);
  readonly #categories = new InternedTexts(schema.EVENT_CATEGORIES, this.#interned, false);
  readonly #names = new InternedTexts(schema.EVENT_NAMES, this.#interned, false);
  readonly #keys = new InternedTexts(schema.ANNOTATION_NAMES, this.#interned, false);
  readonly #texts = new InternedTexts(schema.ANNOTATION_STRINGS, this.#interned, true);
  #isCleared = true;
  #packet = 0;
  #event = 0;
  #leftOut = 0;
  #nextUuid = 1;
  /** Slices, instants and values of counters so far. */
  events = 0;

  /** Whether `take` has a chunk. */
  get isFull(): boolean {
    return this.#bytes.length >= CHUNK_BYTES;
  }

  /** The bytes since the last call. */
  take(): Buffer {
    return this.#bytes.take();
  }

  /** Says which moment the zero is, in nanoseconds since 1970. */
  clock(zero: bigint): void {
    const bytes = this.#bytes;
    this.#beginPacket();
    const snapshot = bytes.begin(schema.CLOCK_SNAPSHOT);
    for (const [id, time] of [
      [schema.CLOCK_BOOTTIME, BigInt(FIRST_TIME)],
      [schema.CLOCK_REALTIME, zero],
    ] as const) {
      const clock = bytes.begin(schema.CLOCKS);
      bytes.uint(schema.CLOCK_ID, id);
      bytes.int(schema.CLOCK_TIMESTAMP, time);
      bytes.end(clock);
    }
    bytes.end(snapshot);
    this.#endPacket(0);
  }

  /** A track for a process; returns its number, which other tracks name as their parent. */
  processTrack(pid: number, name: string, labels: readonly string[]): number {
    return this.#track(undefined, undefined, (bytes) => {
      const process = bytes.begin(schema.PROCESS);
      bytes.int(schema.PROCESS_PID, pid);
      bytes.text(schema.PROCESS_NAME, name);
      for (const label of labels) bytes.text(schema.PROCESS_LABELS, label);
      bytes.end(process);
    });
  }

  threadTrack(parent: number, pid: number, tid: number, name: string): number {
    return this.#track(parent, undefined, (bytes) => {
      const thread = bytes.begin(schema.THREAD);
      bytes.int(schema.THREAD_PID, pid);
      bytes.int(schema.THREAD_TID, tid);
      bytes.text(schema.THREAD_NAME, name);
      bytes.end(thread);
    });
  }

  /** A track of its own. Viewers draw those of one name and parent below each other. */
  namedTrack(parent: number, name: string): number {
    return this.#track(parent, name, undefined);
  }

  counterTrack(parent: number, name: string, unit: CounterUnit): number {
    return this.#track(parent, name, (bytes) => {
      const counter = bytes.begin(schema.COUNTER_DESCRIPTOR);
      const known = UNITS.get(unit);
      if (known === undefined) bytes.text(schema.UNIT_NAME, unit);
      else bytes.uint(schema.UNIT, known);
      bytes.end(counter);
    });
  }

  /** Begins an event: `annotate` and `flow` add to it, `endEvent` ends its description. */
  beginEvent(
    isInstant: boolean,
    track: number,
    time: PictureTime,
    name: string,
    category: string,
  ): void {
    const bytes = this.#bytes;
    this.events++;
    const type = isInstant ? schema.INSTANT : schema.SLICE_BEGIN;
    this.#beginTrackEvent(type, track, time);
    const number = this.#names.numberOf(name);
    if (number === 0) bytes.text(schema.EVENT_NAME, name);
    else bytes.uint(schema.EVENT_NAME_IID, number);
    bytes.uint(schema.CATEGORY_IIDS, this.#categories.numberOf(category));
  }

  /** Adds a value with its name: text, number, boolean, null, bigint, an array or an object of them. */
  annotate(name: string, value: unknown): void {
    if (this.#bytes.length - this.#packet > MAX_EVENT_BYTES) this.#leftOut++;
    else this.#annotation(schema.DEBUG_ANNOTATIONS, name, value, 0);
  }

  /** Adds 64 bits, which are shown in hexadecimal digits. */
  annotateId(name: string, high: number, low: number): void {
    const bytes = this.#bytes;
    const from = this.#beginAnnotation(schema.DEBUG_ANNOTATIONS, name);
    bytes.uintOfHalves(schema.POINTER_VALUE, high, low);
    bytes.end(from);
  }

  /** Connects the event with the others that have the same number. */
  flow(high: number, low: number): void {
    if (this.#bytes.length - this.#packet > 4 * MAX_EVENT_BYTES) return;
    this.#bytes.fixed64(schema.FLOW_IDS, high, low);
  }

  endEvent(): void {
    if (this.#leftOut > 0) {
      this.#annotation(schema.DEBUG_ANNOTATIONS, LEFT_OUT, this.#leftOut, 0);
      this.#leftOut = 0;
    }
    this.#bytes.end(this.#event);
    this.#endPacket(schema.NEEDS_STATE);
  }

  /** Ends the slice of the track that began last. */
  endSlice(track: number, time: PictureTime): void {
    this.#beginTrackEvent(schema.SLICE_END, track, time);
    this.#bytes.end(this.#event);
    this.#endPacket(0);
  }

  counter(track: number, time: number, value: number): void {
    const bytes = this.#bytes;
    this.events++;
    this.#beginTrackEvent(schema.COUNTER, track, time);
    if (Number.isSafeInteger(value)) bytes.int(schema.COUNTER_VALUE, value);
    else bytes.double(schema.DOUBLE_COUNTER_VALUE, value);
    bytes.end(this.#event);
    this.#endPacket(0);
  }

  #track(
    parent: number | undefined,
    name: string | undefined,
    describe: ((bytes: ProtobufBytes) => void) | undefined,
  ): number {
    const bytes = this.#bytes;
    const uuid = this.#nextUuid++;
    this.#beginPacket();
    const track = bytes.begin(schema.TRACK_DESCRIPTOR);
    bytes.uint(schema.UUID, uuid);
    if (parent !== undefined) bytes.uint(schema.PARENT_UUID, parent);
    if (name !== undefined) bytes.text(schema.TRACK_NAME, name);
    describe?.(bytes);
    bytes.end(track);
    this.#endPacket(0);
    return uuid;
  }

  #beginPacket(): void {
    this.#packet = this.#bytes.begin(schema.PACKET);
  }

  #beginTrackEvent(type: number, track: number, time: PictureTime): void {
    const bytes = this.#bytes;
    this.#beginPacket();
    if (typeof time === 'bigint') {
      const at = time + BigInt(FIRST_TIME);
      bytes.int(schema.TIMESTAMP, at < 0n ? 0n : isInt64(at) ? at : BigInt(LAST_TIME));
    } else {
      bytes.uint(schema.TIMESTAMP, Math.min(LAST_TIME, Math.max(0, time + FIRST_TIME)));
    }
    this.#event = bytes.begin(schema.TRACK_EVENT);
    bytes.uint(schema.EVENT_TYPE, type);
    bytes.uint(schema.TRACK_UUID, track);
  }

  #endPacket(flags: number): void {
    const bytes = this.#bytes;
    bytes.uint(schema.SEQUENCE_ID, SEQUENCE);
    if (this.#interned.length > 0) {
      bytes.append(schema.INTERNED_DATA, this.#interned);
      this.#interned.length = 0;
    }
    const cleared = this.#isCleared ? schema.STATE_CLEARED : 0;
    if ((flags | cleared) !== 0) bytes.uint(schema.SEQUENCE_FLAGS, flags | cleared);
    this.#isCleared = false;
    bytes.end(this.#packet);
    const tables = [this.#categories, this.#names, this.#keys, this.#texts];
    if (!tables.some(({ isFull }) => isFull)) return;
    for (const table of tables) table.clear();
    this.#isCleared = true;
  }

  #beginAnnotation(tag: number, name: string | undefined): number {
    const bytes = this.#bytes;
    const from = bytes.begin(tag);
    if (name === undefined) return from;
    const number = this.#keys.numberOf(name);
    if (number === 0) bytes.text(schema.ANNOTATION_NAME, name);
    else bytes.uint(schema.ANNOTATION_NAME_IID, number);
    return from;
  }

  #annotation(tag: number, name: string | undefined, value: unknown, depth: number): void {
    const bytes = this.#bytes;
    const from = this.#beginAnnotation(tag, name);
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') {
      if (isFloat(value)) bytes.double(schema.DOUBLE_VALUE, value);
      else bytes.int(schema.INT_VALUE, value);
    } else if (typeof value === 'boolean') bytes.uint(schema.BOOL_VALUE, value ? 1 : 0);
    else if (typeof value === 'bigint') this.#bigint(value);
    else if (value === null || depth === MAX_DEPTH) this.#text(value === null ? 'null' : '…');
    else if (value instanceof Uint8Array) this.#text(Buffer.from(value).toString('base64'));
    else if (Array.isArray(value)) {
      for (const element of value) {
        this.#annotation(schema.ARRAY_VALUES, undefined, element, depth + 1);
      }
    } else {
      for (const [key, element] of Object.entries(value as object)) {
        this.#annotation(schema.DICT_ENTRIES, key, element, depth + 1);
      }
    }
    bytes.end(from);
  }

  #text(text: string): void {
    const bytes = this.#bytes;
    const number = text.length <= SHORT_TEXT ? 0 : this.#texts.numberOf(text);
    if (number === 0) bytes.text(schema.STRING_VALUE, text);
    else bytes.uint(schema.STRING_VALUE_IID, number);
  }

  #bigint(value: bigint): void {
    if (isInt64(value)) this.#bytes.int(schema.INT_VALUE, value);
    else if (value > 0n && value < 2n ** 64n) this.#bytes.int(schema.UINT_VALUE, value);
    else this.#text(value.toString());
  }
}
