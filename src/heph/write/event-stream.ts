import type { Ring } from '../../core/ring/ring.js';
import type { LenientAttributes, TypedAttributes } from './taken-attributes.js';

/**
 * A start time from `startTrace`, for a finish: nanoseconds since the trace's epoch.
 */
export type Timing = number & { readonly __timing: never };

/** What encoders need of a trace. */
export interface EventTrace {
  readonly ring: Ring;
  /** Longest packet that the target takes, in bytes. */
  readonly packetLimit: number;
  /** One element: the timing of the event that is being recorded. */
  readonly started: Float64Array<ArrayBuffer>;
  /** Present if values that are not valid are no errors. */
  readonly lenient?: LenientAttributes | undefined;
}

/** What encoders need of a stream. */
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
