import { unixNow } from '../../core/clock.js';
import type { Ring } from '../../core/ring/ring.js';
import {
  COUNTER_OFFSET,
  DEFAULT_MAX_PACKET_BYTES,
  DEFINITION_STREAM,
  nameAt,
  START_OFFSET,
} from '../../heph/layout.js';
import type { Stream, StreamTrace } from '../../heph/write/stream.js';
import type { SpanAttributes } from '../attributes.js';
import {
  CLOCK_DESCRIPTION,
  CONTRACT_VERSION,
  HEAP_END_DESCRIPTION,
  HEAP_LIMIT,
  LOSS_DESCRIPTION,
  LOST_DROPPED,
  LOST_OPEN,
  LOST_TEXTS,
  REAL_END,
  REAL_START,
  THREAD_DESCRIPTION,
  VERSION,
} from '../layout.js';
import { nanosecondsFrom } from '../time.js';
import type { Instant, TraceTime } from '../time.js';
import { ClockJumps, epochNow, isJump } from './clock-jumps.js';
import { EventWriter } from './event-writer.js';
import type { EncodedLosses } from './loss-note.js';
import type { OpenSpans } from './open-spans.js';

const NOTHING = new Uint8Array(0);
/** Bytes of the low half of a u64. */
const LOW_WORD = 4;
/** Nanoseconds between looks at the clocks. */
const CLOCK_LOOK = 1e9;
/** Jumps of a thread that are defined. Each takes some 150 of the 32 KiB that all definitions share. */
const MAX_JUMPS = 50;
/** Definitions are larger than this only by what a program puts into them. */
const MAX_DEFINITION_BYTES = 16 << 10;

/** Sets a property that failed assertions about a span do not print: it leads to megabytes of buffers. */
export function hide<Output extends object, Name extends keyof Output>(
  output: Output,
  name: Name,
  value: Output[Name],
): void {
  Object.defineProperty(output, name, { value });
}

/**
 * Writes the records of a stream that are no spans: definitions of what they refer to, clock records, losses, counts.
 */
export class NoteOutput {
  declare readonly stream: Stream;
  /** Where what never waits goes. */
  declare readonly direct: Stream;
  declare readonly trace: StreamTrace;
  declare readonly ring: Ring;
  /** Absent unless the target keeps open spans. */
  declare readonly open: OpenSpans | undefined;
  /**
   * Of `span.start`: when the clocks are looked at again. V8 takes it for a double from the start: an integer that
   * no longer fits its 31 bits, after 2 s, would have it discard all compiled code that records spans.
   */
  nextLook = 0.5;
  /** For the next event. None while one is encoded: a getter in its attributes can record another. */
  #spareWriter: EventWriter | undefined = new EventWriter();
  readonly #clocks: ClockJumps;
  /** Jumps that later pieces and connections begin with. */
  #jumps = 0;
  /** Texts that were not recorded, and that no record of losses says yet. */
  #texts = 0;
  /** Records that have found the ring full, as far as a record of losses says so. */
  #dropped = 0;
  #epoch: bigint;

  constructor(stream: Stream, direct: Stream) {
    hide(this, 'stream', stream);
    hide(this, 'direct', direct);
    hide(this, 'trace', stream.trace);
    hide(this, 'ring', stream.ring);
    this.#clocks = new ClockJumps(stream.trace);
    this.#epoch = stream.trace.epochUnix ?? epochNow(stream.trace);
  }

  /** Nanoseconds since the trace's epoch: of a time that a caller gives, or now. */
  timeOf(time: undefined): number;
  timeOf(time: Instant | undefined, field?: string): TraceTime;
  timeOf(time: Instant | undefined, field = 'time'): TraceTime {
    this.ring.readStamp();
    return time === undefined ? this.ring.stamp[0]! : nanosecondsFrom(this.epoch(), field, time);
  }

  /**
   * Nanoseconds since 1970 at the trace's time 0. As in the reader, it stays the same until a clock jumps:
   * what lies between two times that a caller gives is recorded exactly.
   */
  epoch(): bigint {
    this.ring.readStamp();
    const quick = unixNow() - BigInt(Math.round(this.ring.stamp[0]!));
    if (!isJump(quick, this.#epoch)) return this.#epoch;
    // The thread may have been stopped between the two readings.
    const epoch = epochNow(this.trace);
    if (isJump(epoch, this.#epoch)) this.#epoch = epoch;
    return this.#epoch;
  }

  /** The record of the thread's losses, of which there are none yet. */
  encodeLosses(): EncodedLosses {
    const writer = this.takeWriter();
    try {
      const now = this.timeOf(undefined);
      writer.begin(this.stream.id, 0, LOSS_DESCRIPTION);
      writer.times(now, now);
      writer.unsigned(VERSION, CONTRACT_VERSION);
      writer.unsigned(LOST_OPEN, 0);
      const openAt = writer.at - LOW_WORD;
      writer.unsigned(LOST_TEXTS, 0);
      const textsAt = writer.at - LOW_WORD;
      return { bytes: Buffer.from(writer.finish()), openAt, textsAt };
    } finally {
      this.#spareWriter = writer;
    }
  }

  /** Notes that texts of spans were not recorded: at once for the end of the process, and for readers at times. */
  protected addTexts(count: number): void {
    this.#texts += count;
    this.open?.losses.add(0, count);
  }

  #recordLosses(): void {
    const texts = this.#texts;
    const dropped = this.ring.droppedEvents - this.#dropped;
    if (texts === 0 && dropped === 0) return;
    this.#texts = 0;
    this.#dropped += dropped;
    this.recordNote(LOSS_DESCRIPTION, [
      [LOST_DROPPED, dropped],
      [LOST_TEXTS, texts],
    ]);
    this.open?.losses.add(0, -texts);
  }

  protected takeWriter(): EventWriter {
    const writer = this.#spareWriter ?? new EventWriter();
    this.#spareWriter = undefined;
    // The event before may have had to be small.
    writer.maxText = Infinity;
    writer.mostBytes = DEFAULT_MAX_PACKET_BYTES;
    return writer;
  }

  protected giveBack(writer: EventWriter): void {
    this.#spareWriter = writer;
  }

  /**
   * Commits an event of this stream; without `end` it ends now.
   *
   * @param slot of the open span that it is the final record of; negative: none.
   */
  protected commit(
    bytes: Buffer,
    end: TraceTime | undefined,
    slot = -1,
    stream = this.stream,
  ): void {
    const { ring, counter } = stream;
    const { length } = bytes;
    const isLong = length > ring.longestRecord;
    const hasRoom = isLong || ring.free >= length || ring.makeRoom(length);
    // What a getter has recorded while this was encoded has the numbers before.
    const number = counter[0]!;
    bytes.writeUInt32BE(number, COUNTER_OFFSET);
    if (hasRoom && slot >= 0) this.open?.ending(slot);
    if (hasRoom && !isLong) ring.bytes.set(bytes, ring.position);
    // After the record has its number: see OpenRecords.numbersOf.
    counter[0] = number + 1;
    if (!hasRoom) return;
    if (isLong) {
      ring.writeThrough(bytes, NOTHING, false);
      return;
    }
    if (end === undefined) {
      ring.advance(length);
      ring.commit();
    } else {
      ring.commitAsIs(length);
    }
  }

  /** Defines something, by attributes and fields; returns its number, or 0 if there is no room for it. */
  protected define(
    description: string,
    attributes: SpanAttributes | undefined,
    fields: (writer: EventWriter) => void,
  ): number {
    const now = this.timeOf(undefined);
    const writer = this.takeWriter();
    try {
      writer.mostBytes = MAX_DEFINITION_BYTES;
      writer.begin(DEFINITION_STREAM, 0, description);
      writer.times(now, now);
      writer.unsigned(VERSION, CONTRACT_VERSION);
      fields(writer);
      for (const [name, value] of Object.entries(attributes ?? {})) {
        const before = writer.at;
        try {
          writer.attribute(name, value);
        } catch {
          writer.at = before;
        }
        if (writer.at > MAX_DEFINITION_BYTES) writer.at = before;
      }
      const bytes = writer.finish();
      // What follows counter and times says what is defined.
      const key = bytes.toString('latin1', nameAt(0));
      return this.trace.define(`spans ${key}`, (number) => {
        bytes.writeUInt32BE(number, COUNTER_OFFSET);
        return bytes;
      });
    } catch {
      return 0;
    } finally {
      this.#spareWriter = writer;
    }
  }

  /**
   * Records what is no span: an event of this stream with numbers and texts.
   *
   * @param values a number is a u64.
   * @param from nanoseconds since the trace's epoch, as is `to`; negative: before it; absent: now.
   */
  recordNote(
    description: string,
    values: readonly (readonly [name: string, value: number | bigint | string])[],
    from?: number,
    to?: number,
  ): void {
    const writer = this.takeWriter();
    try {
      const now = this.timeOf(undefined);
      writer.begin(this.stream.id, this.stream.counter[0]!, description);
      const start = from ?? now;
      const end = Math.max(start, to ?? now);
      writer.times(start, end);
      writer.unsigned(VERSION, CONTRACT_VERSION);
      for (const [name, value] of values) {
        if (typeof value === 'string') writer.text(name, value);
        else writer.unsigned(name, value);
      }
      if (start < 0) writer.signed(REAL_START, start);
      if (end < 0) writer.signed(REAL_END, end);
      this.commit(writer.finish(), Math.max(end, 0), -1, this.direct);
    } catch {
      // The trace is closed.
    } finally {
      this.#spareWriter = writer;
    }
  }

  /**
   * Records that the thread runs: in a file as an open record, which has its end from whatever ends the thread.
   *
   * @param from nanoseconds since the trace's epoch; negative: before it.
   */
  recordLife(from: number): void {
    const table = this.ring.openRecords;
    const slot = table?.reserve() ?? -1;
    if (table === undefined || slot === -1) {
      this.recordNote(THREAD_DESCRIPTION, [], from);
      return;
    }
    const writer = this.takeWriter();
    try {
      writer.begin(this.stream.id, 0, THREAD_DESCRIPTION);
      writer.times(from, this.timeOf(undefined));
      writer.unsigned(VERSION, CONTRACT_VERSION);
      if (from < 0) writer.signed(REAL_START, from);
      const bytes = writer.finish();
      table.attend();
      table.bytes.set(bytes, slot);
      table.publish(slot, bytes.length);
    } finally {
      this.giveBack(writer);
    }
  }

  /** Has it recorded that the process ran out of heap, if that is its end. Of the main thread. */
  prepareHeapEnd(): void {
    const table = this.ring.openRecords;
    const slot = table?.reserve() ?? -1;
    if (table === undefined || slot === -1) return;
    const writer = this.takeWriter();
    try {
      const now = this.timeOf(undefined);
      writer.begin(this.stream.id, 0, HEAP_END_DESCRIPTION);
      writer.times(now, now);
      writer.unsigned(VERSION, CONTRACT_VERSION);
      writer.unsigned(HEAP_LIMIT, 0);
      const { length } = writer.finish();
      table.bytes.set(writer.bytes.subarray(0, length), slot);
      // The limit's low word.
      table.prepareHeapEnd(slot, length, START_OFFSET, length - LOW_WORD);
    } finally {
      this.giveBack(writer);
    }
  }

  /** @param start of a span, which may lie in the future. */
  protected lookAtClocks(start: number): void {
    const now = Math.min(start, this.#now());
    this.nextLook = now + CLOCK_LOOK;
    this.#recordLosses();
    const values = this.#clocks.due(now);
    if (values === undefined) return;
    this.recordNote(CLOCK_DESCRIPTION, values);
    if (!this.#clocks.hasJumped || this.#jumps === MAX_JUMPS) return;
    this.#jumps++;
    // A piece or a connection that begins later has the epoch of the first one.
    this.define(CLOCK_DESCRIPTION, undefined, (writer) => {
      for (const [name, value] of values) writer.unsigned(name, value);
    });
  }

  /** Nanoseconds since the trace's epoch; 0: the trace is closed. */
  #now(): number {
    try {
      return this.timeOf(undefined);
    } catch {
      return 0;
    }
  }
}
