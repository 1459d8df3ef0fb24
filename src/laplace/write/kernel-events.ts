import { kernelEmitter } from './kernel-emitter.js';
import type { EmitKernelEvent } from './kernel-emitter.js';
import { END_LINE, kernelEventShapes } from '../kernel-event-kinds.js';
import type { KernelEventKind } from '../kernel-event-kinds.js';
import { TRACE_FILE_OPTIONS, TraceFile } from './trace-file.js';
import type { TraceFileOptions } from './trace-file.js';

/** What `openKernelEvents` accepts beside the path. */
export type KernelEventOptions = TraceFileOptions;

/**
 * A method for each kind of record, named as in {@link kernelEventKinds}. Each takes the timestamp,
 * 0 to 2^53 - 1 or a bigint to 2^64 - 1 (undefined: Tracewright's clock, nanoseconds of
 * CLOCK_MONOTONIC), and the fields of its kind: numbers of 32 bits, or of 64 bits as numbers up to
 * 2^53 - 1 and bigints beyond; a file name is a string without newline.
 */
export type KernelEventMethods = {
  readonly [Kind in KernelEventKind]: EmitKernelEvent<Kind>;
};

/** What a kernel trace has beside its methods for events. */
export interface KernelTrace {
  /** Events that a full ring turned away (`onFull: 'drop'`), or a file that refused writes. */
  readonly dropped: number;
  /**
   * Writes what has been recorded to the file before it returns.
   *
   * @throws TracewrightError `ERR_SYSTEM` when the file did not take everything; it is tried again.
   */
  flush(): void;
  /** Ends the trace with `c` and completes the file. A second call does nothing. */
  close(): void;
}

/** A kernel event trace that is being written. */
export type KernelEvents = KernelTrace & KernelEventMethods;

/**
 * Opens a kernel event trace: what the kernel of a simulated or a real machine does beside the
 * memory references of its programs.
 *
 * @param path the file, which must not exist unless `exists` says otherwise.
 * @throws TracewrightError for a wrong option, `ERR_TRACE_EXISTS` for a file that exists or is being
 *   written, `ERR_SYSTEM` for one that cannot be made.
 */
export function openKernelEvents(path: string, options: KernelEventOptions = {}): KernelEvents {
  const file = new TraceFile(path, 'laplace-kernel', options, TRACE_FILE_OPTIONS, END_LINE);
  const methods = Object.fromEntries(
    kernelEventShapes.map((shape) => [shape.kind, kernelEmitter(file, shape)]),
  ) as unknown as KernelEventMethods;
  return {
    ...methods,
    get dropped() {
      return file.ring.droppedEvents;
    },
    flush: () => {
      file.flush();
    },
    close: () => {
      file.ring.close();
    },
  };
}
