import { unixNow } from '../../core/clock.js';
import { mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import {
  COUNTER_OFFSET,
  DEFAULT_MAX_PACKET_BYTES,
  DEFINITION_STREAM,
  DESCRIPTION_OFFSET,
} from '../../heph/layout.js';
import { EventShapes, MAX_NAMES } from '../../heph/write/event-shapes.js';
import type { Stream, StreamTrace } from '../../heph/write/stream.js';
import {
  CLOCK_DESCRIPTION,
  CONTRACT_VERSION,
  LOSS_DESCRIPTION,
  LOST_DROPPED,
  LOST_OPEN,
  LOST_TEXTS,
  REAL_END,
  REAL_START,
  RESOURCE_DESCRIPTION,
  SCHEMA_URL,
  SCOPE_DESCRIPTION,
  SCOPE_NAME,
  SCOPE_VERSION,
  UNFINISHED,
  VERSION,
} from '../layout.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { observer } from '../observer.js';
import type { Policy } from '../policy.js';
import type { Resource } from '../resource.js';
import type { Scope } from '../scope.js';
import type { Span, SpanTaker } from '../span.js';
import { nanosecondsFrom } from '../time.js';
import type { Instant, TraceTime } from '../time.js';
import { ClockJumps, epochNow, isJump } from './clock-jumps.js';
import { EventWriter, TOO_LONG } from './event-writer.js';
import { OpenSpans } from './open-spans.js';
import type { SpanEncoder } from './open-spans.js';
import type { EncodedLosses } from './loss-note.js';
import type { SpanEnding } from './span-ending.js';
import { encodeSpan, PORTIONS } from './span-encoder.js';
import { spanShapeCompiler } from './span-shapes.js';
import type { SpanEmitter } from './span-shapes.js';

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
function hide<Name extends keyof SpanOutput>(
  output: SpanOutput,
  name: Name,
  value: SpanOutput[Name],
): void {
  Object.defineProperty(output, name, { value });
}

/** A context can outlive its span for as long as a connection or a timer: nothing of the program hangs off it then. */
export function letGo(span: Span): void {
  span.own = undefined;
  span.extras = undefined;
}

/** Where the spans of a thread go: a stream of a Heph trace. */
export class SpanOutput implements SpanTaker, SpanEncoder {
  declare readonly stream: Stream;
  /** Where what never waits goes. */
  declare readonly direct: Stream;
  declare readonly trace: StreamTrace;
  declare readonly ring: Ring;
  /** The number of the resource; 0: it could not be defined. */
  resource = 0;
  /** The resource itself. */
  declare describedResource: Resource;
  /** Whether every attribute is recorded as it is. */
  takesAnything = false;
  #policy: Policy;
  /** Absent unless the target keeps open spans. */
  declare readonly open: OpenSpans | undefined;
  /** For the next event. None while one is encoded: a getter in its attributes can record another. */
  #spareWriter: EventWriter | undefined = new EventWriter();
  readonly #shapes: EventShapes<SpanEmitter> | undefined;
  /** Of `span.start`: when the clocks are looked at again. */
  #nextLook = 0;
  readonly #clocks: ClockJumps;
  /** Jumps that later pieces and connections begin with. */
  #jumps = 0;
  /** Texts that were not recorded, and that no record of losses says yet. */
  #texts = 0;
  /** Records that have found the ring full, as far as a record of losses says so. */
  #dropped = 0;
  #epoch: bigint;

  constructor(stream: Stream, policy: Policy, resource: Resource, direct = stream) {
    hide(this, 'stream', stream);
    hide(this, 'direct', direct);
    hide(this, 'trace', stream.trace);
    hide(this, 'ring', stream.ring);
    this.#clocks = new ClockJumps(stream.trace);
    this.#epoch = stream.trace.epochUnix ?? epochNow(stream.trace);
    this.#policy = policy;
    this.policy = policy;
    this.#shapes = mayCompile() ? new EventShapes(this.trace, spanShapeCompiler(this)) : undefined;
    const table = this.ring.openRecords;
    hide(this, 'open', table === undefined ? undefined : this.openSpansIn(table));
    this.setResource(resource);
  }

  /** The trace ends for this thread. */
  finish(): void {
    // Everything is in the ring already.
  }

  protected openSpansIn(table: OpenRecords): OpenSpans {
    return new OpenSpans(this, table);
  }

  get policy(): Policy {
    return this.#policy;
  }

  set policy(policy: Policy) {
    const { limits, redactor } = policy;
    this.#policy = policy;
    this.takesAnything =
      redactor === undefined && limits.valueLength >= 0x7fff_ffff && limits.attributes >= MAX_NAMES;
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

  /** Spans that are recorded from now on are of this resource. */
  setResource(resource: Resource): void {
    const { attributes, schemaUrl } = resource;
    this.describedResource = resource;
    this.resource = this.#define(RESOURCE_DESCRIPTION, this.#redacted(attributes), (writer) => {
      if (schemaUrl !== '') writer.text(SCHEMA_URL, schemaUrl);
    });
  }

  /** Without what is dropped, and with what is masked. */
  #redacted(attributes: SpanAttributes): SpanAttributes {
    const { redactor } = this.policy;
    if (redactor === undefined) return attributes;
    const entries = Object.entries(attributes).map(([name, value]) => [
      name,
      redactor.value(name, value),
    ]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as SpanAttributes;
  }

  /** The number of a scope; 0: it could not be defined. */
  scopeNumber(scope: Scope): number {
    if (scope.output !== this) {
      scope.number = this.#define(SCOPE_DESCRIPTION, scope.attributes, (writer) => {
        writer.text(SCOPE_NAME, scope.name);
        if (scope.version !== '') writer.text(SCOPE_VERSION, scope.version);
        if (scope.schemaUrl !== '') writer.text(SCHEMA_URL, scope.schemaUrl);
      });
      scope.output = this;
    }
    return scope.number;
  }

  /** Records a span that has ended. Never throws: what cannot be recorded is counted. */
  record(span: Span, endTime: Instant | undefined): void {
    if (span.start >= this.#nextLook) this.#lookAtClocks(span.start);
    if (observer === undefined) {
      this.#record(span, endTime);
      letGo(span);
      return;
    }
    const end = this.#endOf(endTime);
    this.#record(span, endTime);
    observer.ended(span, Math.max(span.start, Number(end)));
  }

  #endOf(endTime: Instant | undefined): TraceTime {
    try {
      return this.timeOf(endTime);
    } catch {
      // It is no time.
      return this.timeOf(undefined);
    }
  }

  #record(span: Span, endTime: Instant | undefined): void {
    const { extras, slot } = span;
    const isUsual = extras === undefined && endTime === undefined && this.takesAnything;
    if (isUsual && span.heldBytes > 0) {
      this.#recordFromSlot(span);
      return;
    }
    if (!isUsual || !this.#recordUsual(span)) this.recordAny(span, endTime);
    if (slot !== -1) this.release(span);
  }

  /**
   * Records a span that ends with further attributes, and frees its place; false: it is as it was.
   *
   * @param isNamed whether its name ends with the text.
   */
  recordWith(
    span: Span,
    ending: SpanEnding,
    number: number,
    text: string,
    isNamed: boolean,
  ): boolean {
    if (span.heldBytes === 0 || span.extras !== undefined || !this.takesAnything) return false;
    if (span.start >= this.#nextLook) this.#lookAtClocks(span.start);
    try {
      if (!this.open!.commitWith(span, ending, number, text, isNamed)) return false;
    } catch {
      // The trace is closed.
      this.open!.end(span.slot);
    }
    this.#forget(span);
    letGo(span);
    return true;
  }

  #recordFromSlot(span: Span): void {
    const { slot } = span;
    try {
      this.open!.commit(span, slot);
    } catch {
      // The trace is closed.
      this.open!.end(slot);
    }
    this.#forget(span);
  }

  /** A span has no place any more. */
  #forget(span: Span): void {
    span.slot = -1;
    span.heldBytes = 0;
    span.heldNames = undefined;
  }

  /** Records a span of any content. */
  recordAny(span: Span, endTime: Instant | undefined): void {
    const { slot } = span;
    // Encoding can call getters and redaction, which can record spans or kill the process.
    if (slot >= 0) this.open?.notEnding(slot);
    try {
      const now = this.timeOf(undefined);
      let end = endTime === undefined ? undefined : this.timeOf(endTime, 'endTime');
      // A start in the future: the end is no earlier.
      if (end === undefined && span.start > now) end = span.exactStart;
      const bytes = this.#encode(span, 0, end, this.#limit());
      if (bytes === undefined) {
        this.ring.countRefused();
        return;
      }
      this.#commit(bytes, end, slot);
    } catch {
      // The trace is closed, or the program gave no time. Spans break no program.
      if (this.ring.isOpen) this.ring.countDropped();
    }
  }

  /**
   * Records a span whose end is known, in nanoseconds since the trace's epoch.
   *
   * @param place of the table of open records that has a record of the span already; -1: none.
   */
  recordPast(span: Span, end: number, place: number): void {
    try {
      const bytes = this.#encode(span, 0, end, this.#limit());
      if (bytes === undefined) {
        this.ring.countRefused();
        return;
      }
      if (place !== -1) this.ring.openRecords!.ending(place);
      this.#commit(bytes, end, -1, this.direct);
    } catch {
      if (this.ring.isOpen) this.ring.countDropped();
    }
  }

  /** The record of a span that is still open, of at most `limit` bytes; undefined: it cannot be so small. */
  encodeOpen(span: Span, limit: number): Buffer | undefined {
    // Not an end before the epoch: such a one is a field, which the last sign of life does not replace.
    return this.#encode(span, UNFINISHED, span.start < 0 ? 0 : span.exactStart, limit);
  }

  /** The record of the thread's losses, of which there are none yet. */
  encodeLosses(): EncodedLosses {
    const writer = this.#takeWriter();
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

  /** Adds an attribute to those that the span has in its place alone; false: that cannot be. */
  hold(span: Span, name: string, value: SpanValue): boolean {
    try {
      return this.open!.hold(span, name, value);
    } catch {
      // The trace is closed.
      return false;
    }
  }

  /** The attributes that the span has in its place alone become its own. */
  takeHeld(span: Span): void {
    try {
      span.own = this.open!.heldAttributes(span);
      if (!this.open!.isAsBegun(span)) span.heldBytes = 0;
    } catch {
      // The trace is closed.
      span.own = {};
    }
    span.heldNames = undefined;
  }

  /** A span that is kept while it is open has changed. */
  keepAnew(span: Span): void {
    this.open?.renew(span);
  }

  /** As `keepAnew`, of a span that gets a name and one more text. False: only `keepAnew` can do it. */
  keepWith(span: Span, name: string, attribute: string, text: string): boolean {
    return this.open!.renewWith(span, name, attribute, text);
  }

  /** Lets go of a span that was kept while it was open. */
  release(span: Span): void {
    const { slot } = span;
    this.#forget(span);
    this.open?.end(slot);
  }

  discard(span: Span): void {
    if (span.slot !== -1) this.release(span);
  }

  stateOf({ traceState }: Span): string {
    return traceState;
  }

  /** Records a span without extras by a compiled emitter; false: it has none. */
  #recordUsual(span: Span): boolean {
    const emitter = this.#shapes?.emitterFor(span.name, span.own);
    if (emitter === undefined) return false;
    if (span.slot >= 0) this.open?.ending(span.slot);
    try {
      emitter(span);
    } catch {
      // The trace is closed.
    }
    return true;
  }

  #limit(): number {
    const { packetLimit, writesThrough } = this.trace;
    const most = Math.min(packetLimit, DEFAULT_MAX_PACKET_BYTES);
    return writesThrough ? most : Math.min(most, this.ring.longestRecord);
  }

  #encode(
    span: Span,
    flags: number,
    end: TraceTime | undefined,
    limit: number,
  ): Buffer | undefined {
    const { stream, resource } = this;
    const { redactor } = this.policy;
    const attributes =
      this.takesAnything && span.heldNames !== undefined ? this.open!.heldBytes(span) : undefined;
    const counter = stream.counter[0]!;
    const recording = { stream: stream.id, counter, resource, end, flags, attributes };
    const writer = this.#takeWriter();
    writer.mostBytes = limit;
    try {
      for (const portion of PORTIONS) {
        const before = redactor?.refused;
        try {
          const bytes = encodeSpan(writer, span, recording, this.policy, portion);
          if (bytes.length > limit) continue;
          // An open span is encoded once more when it ends.
          if (redactor?.refused !== before && flags === 0)
            this.#addTexts(redactor!.refused - before!);
          return bytes;
        } catch (error) {
          if (error !== TOO_LONG) throw error;
        }
      }
      return undefined;
    } finally {
      this.#spareWriter = writer;
    }
  }

  /** Notes that texts of spans were not recorded: at once for the end of the process, and for readers at times. */
  #addTexts(count: number): void {
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

  #takeWriter(): EventWriter {
    const writer = this.#spareWriter ?? new EventWriter();
    this.#spareWriter = undefined;
    return writer;
  }

  /**
   * Commits an event of this stream; without `end` it ends now.
   *
   * @param slot of the open span that it is the final record of; negative: none.
   */
  #commit(bytes: Buffer, end: TraceTime | undefined, slot = -1, stream = this.stream): void {
    const { ring } = stream;
    const { length } = bytes;
    // What a getter has recorded while this was encoded has the numbers before.
    bytes.writeUInt32BE(stream.counter[0]!, COUNTER_OFFSET);
    stream.counter[0]!++;
    if (length > ring.longestRecord) {
      if (slot >= 0) this.open?.ending(slot);
      ring.writeThrough(bytes, NOTHING, false);
      return;
    }
    if (ring.free < length && !ring.makeRoom(length)) return;
    if (slot >= 0) this.open?.ending(slot);
    ring.bytes.set(bytes, ring.position);
    if (end === undefined) {
      ring.advance(length);
      ring.commit();
    } else {
      ring.commitAsIs(length);
    }
  }

  #define(
    description: string,
    attributes: SpanAttributes | undefined,
    fields: (writer: EventWriter) => void,
  ): number {
    const now = this.timeOf(undefined);
    const writer = this.#takeWriter();
    try {
      writer.maxText = Infinity;
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
      const key = bytes.toString('latin1', DESCRIPTION_OFFSET);
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
    const writer = this.#takeWriter();
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
      this.#commit(writer.finish(), Math.max(end, 0), -1, this.direct);
    } catch {
      // The trace is closed.
    } finally {
      this.#spareWriter = writer;
    }
  }

  /** @param start of a span, which may lie in the future. */
  #lookAtClocks(start: number): void {
    const now = Math.min(start, this.#now());
    this.#nextLook = now + CLOCK_LOOK;
    this.#recordLosses();
    const values = this.#clocks.due(now);
    if (values === undefined) return;
    this.recordNote(CLOCK_DESCRIPTION, values);
    if (!this.#clocks.hasJumped || this.#jumps === MAX_JUMPS) return;
    this.#jumps++;
    // A piece or a connection that begins later has the epoch of the first one.
    this.#define(CLOCK_DESCRIPTION, undefined, (writer) => {
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
