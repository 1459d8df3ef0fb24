import { outOfRange, TracewrightError, wrongType } from '../../core/errors.js';
import type { Ring } from '../../core/ring/ring.js';
import { encodeEvent } from './encoder.js';
import type { EventEmitter, EventShapes } from './event-shapes.js';
import { recordTaken } from './event-stream.js';
import type { EventStream, EventTrace, Timing } from './event-stream.js';
import { buildSpan } from './span.js';
import type { Span, SpanSchema } from './span.js';
import { checkAttributes, releaseAttributes, takeAttributes } from './taken-attributes.js';
import type { TypedAttributes } from './taken-attributes.js';
import { checkSubstream, checkText } from './value.js';
import type { Attributes } from './value.js';

/** A trace as its streams, and those who have a stream, see it. */
export interface StreamTrace extends EventTrace {
  /** Whether `startTrace` gives timings. */
  readonly enabled: boolean;
  /** Whether a packet that is longer than the ring can be written past it. */
  readonly writesThrough: boolean;
  /** Nanoseconds since 1970 at time 0, as the trace says; undefined: another thread has opened the target. */
  readonly epochUnix: bigint | undefined;
  /** Which clock stamps the events, and its nanoseconds at time 0. */
  readonly clock: 'scaled' | 'monotonic';
  readonly clockAtZero: bigint;
  /** Absent if functions cannot be compiled. */
  readonly shapes: EventShapes<EventEmitter> | undefined;
  /** Throws if the trace is closed. */
  refuseIfClosed(): void;
  /** Defines what events refer to by the number that it returns; 0: it cannot. */
  define(key: string, packetOf: (number: number) => Uint8Array): number;
  /** Resolves once the events that this thread has finished are in the file or with the network. */
  flush(): Promise<void>;
}

/** The events of one thread of execution (section "Event Packet"). */
export class Stream implements EventStream {
  /** Identifier of the stream, u32. */
  readonly id: number;
  /** @internal */
  readonly trace: StreamTrace;
  /** @internal */
  readonly ring: Ring;
  /** @internal One element: the counter of the next event. It wraps at 2^32. */
  readonly counter: Uint32Array<ArrayBuffer>;

  /** @internal Use `trace.stream`. */
  constructor(trace: StreamTrace, id: number, counter = new Uint32Array(1)) {
    this.trace = trace;
    this.ring = trace.ring;
    this.id = id;
    this.counter = counter;
  }

  /**
   * Takes the start time of an event. An event that is never finished is never written.
   *
   * @returns the timing, or undefined when the trace is disabled.
   */
  startTrace(): Timing | undefined {
    if (!this.trace.enabled) {
      this.trace.refuseIfClosed();
      return undefined;
    }
    this.ring.readStamp();
    return this.ring.stamp[0] as Timing;
  }

  /**
   * Records an event that began at `timing` and ends now. Without a timing it does nothing.
   *
   * Each property is read once. An event that comes often is compiled; {@link span} compiles it in
   * advance, and is faster still.
   *
   * @param description what happened, at most 65,535 bytes of UTF-8.
   * @param attributes see `AttributeInput` for how values become types.
   * @param substream what the stream was working on, 0 to 2^64 - 1; default 0.
   * @throws TracewrightError for an invalid argument, and for an event that is too large for the
   *   target, which counts as `dropped.tooLarge`.
   */
  finishTrace(
    timing: Timing | undefined,
    description: string,
    attributes?: Attributes,
    substream: number | bigint = 0,
  ): void {
    // Small enough that V8 inlines it at its call sites: the timing, a double, needs no box then.
    if (typeof timing !== 'number') {
      if ((timing as unknown) !== undefined) this.checkTiming(timing);
      return;
    }
    this.trace.started[0] = timing;
    this.#finishStarted(description, attributes, substream);
  }

  /**
   * Compiles an event whose description and attribute names are always the same.
   *
   *     const request = stream.span('request', { method: 'string', status: 'u64' });
   *     const timing = stream.startTrace();
   *     request.finish(timing, 'GET', 200);
   *
   * @param schema names and types, in the order of the values that `finish` takes; as a list of
   *   pairs TypeScript knows the type of each value.
   */
  span<const Schema extends SpanSchema>(description: string, schema: Schema): Span<Schema> {
    return buildSpan(this, description, schema);
  }

  /** Records an event that began at `trace.started[0]`. */
  #finishStarted(
    description: string,
    attributes: Attributes | undefined,
    substream: number | bigint,
  ): void {
    const { shapes, started } = this.trace;
    const timing = started[0]!;
    if (!(timing >= 0) || timing > this.ring.stamp[0]!) this.checkTiming(timing);
    checkText('description', description);
    checkSubstream(substream);
    checkAttributes(attributes);
    const emitter = shapes?.emitterFor(description, attributes);
    // A getter or a proxy can record another event meanwhile.
    if (emitter !== undefined) {
      started[0] = timing;
      emitter(this, substream, attributes);
      return;
    }
    const taken = takeAttributes(attributes);
    started[0] = timing;
    recordTaken(this, substream, description, taken);
    releaseAttributes(taken);
  }

  /** @internal Records an event of any size. Its values are checked. */
  record(
    timing: number,
    substream: number | bigint,
    description: string,
    attributes: TypedAttributes,
  ): void {
    const { ring } = this;
    const { packetLimit, writesThrough } = this.trace;
    const { bound } = attributes;
    const counter = this.counter[0]!;
    const encode = (view: DataView, bytes: Buffer, start: number): number =>
      encodeEvent(view, bytes, start, this.id, counter, timing, substream, description, attributes);
    // An event without room must still be refused if no datagram can hold it.
    const canExceedPacket = ring.free < bound && bound > packetLimit;
    if ((bound > ring.longestRecord || canExceedPacket) && ring.isOpen) {
      this.counter[0] = counter + 1;
      const bytes = Buffer.allocUnsafe(bound);
      const size = encode(new DataView(bytes.buffer, bytes.byteOffset, bound), bytes, 0);
      if (size > packetLimit) this.refuse(size, packetLimit);
      if (size > ring.longestRecord) {
        if (!writesThrough) this.refuse(size, ring.longestRecord);
        ring.writeThrough(bytes.subarray(0, size), new Uint8Array(0), false);
        return;
      }
      // The bound counts three bytes a character; the text is shorter.
      if (ring.free < size && !ring.makeRoom(size)) return;
      ring.bytes.set(bytes.subarray(0, size), ring.position);
      ring.advance(size);
      ring.commit();
      return;
    }
    const hasRoom = ring.free >= bound || ring.makeRoom(bound);
    const size = hasRoom ? encode(ring.view, ring.bytes, ring.position) : 0;
    // After the record has its number: see OpenRecords.numbersOf.
    this.counter[0] = counter + 1;
    if (!hasRoom) return;
    if (size > packetLimit) this.refuse(size, packetLimit);
    ring.advance(size);
    ring.commit();
  }

  /** @internal Counts an event that is too large, and throws. */
  refuse(size: number, limit: number): never {
    this.ring.countRefused();
    const words = `at most ${limit} bytes, which is what ${
      limit === this.trace.packetLimit ? 'a datagram' : 'half the ring'
    } holds`;
    throw new TracewrightError(
      'ERR_ARGUMENT_RANGE',
      `the event takes ${size} bytes; it must be ${words}`,
      {
        field: 'event',
        value: size,
        limit: words,
      },
    );
  }

  /** @internal Checks that a timing came from this trace. */
  checkTiming(timing: unknown): void {
    const limit = 'what startTrace of this trace returned';
    if (typeof timing !== 'number') throw wrongType('timing', timing, limit);
    if (timing >= 0 && timing <= this.ring.stamp[0]!) return;
    // A timing of another thread can be later than the last one taken here.
    if (this.ring.isOpen) this.ring.readStamp();
    else this.trace.refuseIfClosed();
    if (!(timing >= 0) || timing > this.ring.stamp[0]!) throw outOfRange('timing', timing, limit);
  }
}
