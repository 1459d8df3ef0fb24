import { outOfRange, TracewrightError, wrongType } from '../../core/errors.js';
import type { Ring } from '../../core/ring/ring.js';
import { textBound, valueBound, writeSubstream, writeText, writeValue } from './encoder.js';
import {
  COUNTER_OFFSET,
  DESCRIPTION_OFFSET,
  END_OFFSET,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
} from '../layout.js';
import { compileSpan } from './span.js';
import type { Span, SpanSchema } from './span.js';
import type { Trace } from './trace.js';
import { checkSubstream, checkText, resolveValue, TYPE_BYTES } from './value.js';
import type { AttributeInput, ResolvedValue } from './value.js';

/**
 * A moment that `startTrace` took, to be given to a finish: nanoseconds since the trace's epoch.
 * Nothing, when the trace is disabled.
 */
export type Timing = number & { readonly __timing: never };

/** Names and values of an event's attributes, in the order in which they are written. */
export type Attributes = Readonly<Record<string, AttributeInput>>;

const TWO_32 = 0x1_0000_0000;

interface EncodedAttribute extends ResolvedValue {
  name: string;
}

/** The events of one thread of execution (section "Event Packet"). */
export class Stream {
  /** Identifier of the stream, u32. */
  readonly id: number;
  /** @internal */
  readonly trace: Trace;
  /** @internal */
  readonly ring: Ring;
  /** @internal One element: the counter of the next event. It wraps at 2^32. */
  readonly counter = new Uint32Array(1);

  /** @internal Use `trace.stream`. */
  constructor(trace: Trace, id: number) {
    this.trace = trace;
    this.ring = trace.ring;
    this.id = id;
  }

  /**
   * Takes the start time of an event. What is never finished is never written.
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
   * For an event that is recorded often, {@link span} makes a faster function.
   *
   * @param description what happened, at most 65,535 bytes of UTF-8.
   * @param attributes see `AttributeInput` for how values become types.
   * @param substream what the stream was working on, 0 to 2^64 - 1; default 0.
   * @throws TracewrightError for a value that cannot be said, and for an event that the target
   *   cannot hold (which counts as `dropped.tooLarge`).
   */
  finishTrace(
    timing: Timing | undefined,
    description: string,
    attributes?: Attributes,
    substream: number | bigint = 0,
  ): void {
    if (timing === undefined) return;
    if (typeof timing !== 'number' || !(timing >= 0) || timing > this.ring.stamp[0]!) {
      this.checkTiming(timing);
    }
    checkText('description', description);
    checkSubstream(substream);
    let bound = DESCRIPTION_OFFSET + textBound(description);
    const encoded: EncodedAttribute[] = [];
    if (attributes !== undefined) {
      // A Map has entries, but none that Object.entries sees: they would vanish.
      if (
        typeof attributes !== 'object' ||
        (attributes as unknown) === null ||
        Symbol.iterator in attributes
      ) {
        throw wrongType('attributes', attributes, 'an object of names and values');
      }
      for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined) continue;
        checkText('attribute name', name);
        const resolved = resolveValue(name, value);
        encoded.push({ name, type: resolved.type, value: resolved.value });
        bound += textBound(name) + 1 + valueBound(resolved.type, resolved.value);
      }
    }
    this.record(timing, description, encoded, substream, bound);
  }

  /**
   * Compiles an event that has always the same description and attributes.
   *
   *     const request = stream.span('request', { method: 'string', status: 'u64' });
   *     const timing = stream.startTrace();
   *     request.finish(timing, 'GET', 200);
   *
   * @param schema names and types, in the order of the values that `finish` takes; as a list of
   *   pairs TypeScript knows the type of each value.
   */
  span<const Schema extends SpanSchema>(description: string, schema: Schema): Span<Schema> {
    return compileSpan(this, description, schema);
  }

  /** @internal Encodes an event whose values are checked; `bound` is the most it can take. */
  record(
    timing: number,
    description: string,
    attributes: readonly EncodedAttribute[],
    substream: number | bigint,
    bound: number,
  ): void {
    const { ring } = this;
    const counter = this.counter[0]!;
    this.counter[0] = counter + 1;
    // Of an event that finds no room it must be known too whether it would fit a datagram at all.
    const unsure = ring.free < bound && bound > this.trace.packetLimit;
    if ((bound > ring.longestRecord || unsure) && ring.isOpen) {
      const bytes = Buffer.allocUnsafe(bound);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bound);
      const size = this.#encode(
        view,
        bytes,
        0,
        timing,
        description,
        attributes,
        substream,
        counter,
      );
      if (size > this.trace.packetLimit) this.refuse(size, this.trace.packetLimit);
      if (size > ring.longestRecord) {
        if (!this.trace.writesThrough) this.refuse(size, ring.longestRecord);
        ring.writeThrough(bytes.subarray(0, size), new Uint8Array(0), false);
        return;
      }
      // Text that could have been longer than it is.
      if (ring.free < size && !ring.makeRoom(size)) return;
      ring.bytes.set(bytes.subarray(0, size), ring.position);
      ring.advance(size);
      ring.commit();
      return;
    }
    if (ring.free < bound && !ring.makeRoom(bound)) return;
    const size = this.#encode(
      ring.view,
      ring.bytes,
      ring.position,
      timing,
      description,
      attributes,
      substream,
      counter,
    );
    if (size > this.trace.packetLimit) this.refuse(size, this.trace.packetLimit);
    ring.advance(size);
    ring.commit();
  }

  /** @internal Everything but the end time, which the commit stamps. Returns the packet's size. */
  #encode(
    view: DataView,
    bytes: Buffer,
    start: number,
    timing: number,
    description: string,
    attributes: readonly EncodedAttribute[],
    substream: number | bigint,
    counter: number,
  ): number {
    view.setUint32(start + MAGIC_OFFSET, EVENT_MAGIC);
    view.setUint32(start + STREAM_OFFSET, this.id);
    view.setUint32(start + COUNTER_OFFSET, counter);
    writeSubstream(view, start + SUBSTREAM_OFFSET, substream);
    view.setUint32(start + START_OFFSET, timing / TWO_32);
    view.setUint32(start + START_OFFSET + 4, timing);
    view.setUint32(start + END_OFFSET, 0);
    let at = writeText(view, bytes, start + DESCRIPTION_OFFSET, description);
    for (const { name, type, value } of attributes) {
      at = writeText(view, bytes, at, name);
      view.setUint8(at, TYPE_BYTES[type]);
      at = writeValue(view, bytes, at + 1, type, value);
    }
    view.setUint32(start + SIZE_OFFSET, at - start);
    return at - start;
  }

  /** @internal Says why an event cannot be sent, and counts it. */
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

  /** @internal The slow half of the test that a timing came from this trace. */
  checkTiming(timing: unknown): void {
    const limit = 'what startTrace of this trace returned';
    if (typeof timing !== 'number') throw wrongType('timing', timing, limit);
    // A timing of another thread may be later than the last one that was taken here.
    if (this.ring.isOpen) this.ring.readStamp();
    else this.trace.refuseIfClosed();
    if (!(timing >= 0) || timing > this.ring.stamp[0]!) throw outOfRange('timing', timing, limit);
  }
}
