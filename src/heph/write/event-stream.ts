import type { Ring } from '../../core/ring/ring.js';
import { nameAt } from '../layout.js';
import { encodeEvent, textBound } from './encoder.js';
import { boundOfNames, resolveAttributes } from './taken-attributes.js';
import type { LenientAttributes, TakenAttributes, TypedAttributes } from './taken-attributes.js';

/**
 * A start time from `startTrace`, for a finish: nanoseconds since the trace's epoch.
 */
export type Timing = number & { readonly __timing: never };

/** The part of a trace that encoders use. */
export interface EventTrace {
  readonly ring: Ring;
  /** Longest packet that the target takes, in bytes. */
  readonly packetLimit: number;
  /** One element: the timing of the event that is being recorded. */
  readonly started: Float64Array<ArrayBuffer>;
  /** Present if values that are not valid are no errors. */
  readonly lenient?: LenientAttributes | undefined;
}

/** The part of a stream that encoders use. */
export interface EventStream {
  readonly id: number;
  readonly ring: Ring;
  readonly trace: EventTrace;
  /** One element: the counter of the next event. It wraps at 2^32. */
  readonly counter: Uint32Array<ArrayBuffer>;
  /** Records an event of any size. Its values are checked. */
  record(
    timing: number,
    substream: number | bigint,
    description: string,
    attributes: TypedAttributes,
  ): void;
  /** Counts an event that is too large, and throws. */
  refuse(size: number, limit: number): never;
  /** Checks that a timing came from this trace. */
  checkTiming(timing: unknown): void;
}

/**
 * Records an event that began at `trace.started[0]`, with attributes of any kind.
 *
 * @throws TracewrightError for an attribute that is not valid, and for an event that is too large.
 */
export function recordTaken(
  stream: EventStream,
  substream: number | bigint,
  description: string,
  taken: TakenAttributes,
): void {
  const { ring, trace } = stream;
  const bound = nameAt(0) + textBound(description) + boundOfNames(taken) + taken.valuesBound;
  const { packetLimit } = trace;
  // One that could be too large for a datagram is refused, whether there is room or not.
  const mustFit = ring.free >= bound || bound <= packetLimit;
  if (!taken.areUsual || bound > ring.longestRecord || !mustFit) {
    // An array's getter can record another event.
    const timing = trace.started[0]!;
    const typed = resolveAttributes(taken, trace.lenient);
    stream.record(timing, substream, description, {
      ...typed,
      bound: nameAt(0) + textBound(description) + typed.bound,
    });
    return;
  }
  if (ring.free < bound && !ring.makeRoom(bound)) {
    stream.counter[0]! += 1;
    return;
  }
  const { counter, id } = stream;
  const { view, bytes, position } = ring;
  const number = counter[0]!;
  const timing = trace.started[0]!;
  const size = encodeEvent(
    view,
    bytes,
    position,
    id,
    number,
    timing,
    substream,
    description,
    taken,
  );
  // After the record has its number: see OpenRecords.numbersOf.
  counter[0] = number + 1;
  if (size > packetLimit) stream.refuse(size, packetLimit);
  ring.advance(size);
  ring.commit();
}
