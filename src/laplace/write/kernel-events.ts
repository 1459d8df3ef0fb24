import { anyEventEmitter, kernelEmitter } from './kernel-emitter.js';
import type { EmitAnyEvent, EmitKernelEvent } from './kernel-emitter.js';
import { END_LINE, kernelEventShapes } from '../kernel-event-kinds.js';
import type { KernelEventKind } from '../kernel-event-kinds.js';
import { ownOptions } from '../../core/options/argument.js';
import { TRACE_FILE_OPTIONS, TraceFile } from './trace-file.js';
import type { TraceFileOptions, TraceTarget } from './trace-file.js';

/** Options of `openKernelEvents`. */
export type KernelEventOptions = TraceFileOptions;

/**
 * A method for each kind of record, named as in {@link kernelEventKinds}. It takes the timestamp and
 * the fields of its kind.
 *
 * - Timestamp: 0 to 2^53 - 1, or a bigint up to 2^64 - 1. Undefined: Tracewright's clock, nanoseconds
 *   of CLOCK_MONOTONIC.
 * - Field of 32 bits: a number. Field of 64 bits: a number up to 2^53 - 1, or a bigint.
 * - File name: a string of 1 to 16,384 bytes without CR, LF, NUL and unpaired surrogates.
 */
export type KernelEventMethods = {
  readonly [Kind in KernelEventKind]: EmitKernelEvent<Kind>;
};

/** Methods of a kernel trace, apart from one for each kind of the catalog. */
export interface KernelTrace {
  /**
   * Records an event that the catalog does not have: the specification lets the kernel log any.
   *
   * @param tag one printable ASCII character that is neither a space nor a tag of a method or of the end.
   * @param timestamp as of the methods.
   * @param rest what follows the timestamp: 0 to 16,384 bytes without CR, LF, NUL and unpaired surrogates.
   */
  readonly event: EmitAnyEvent;
  /** Events dropped because the ring was full (`onFull: 'drop'`) or the file had a write error. */
  readonly dropped: number;
  /**
   * Writes everything recorded so far to the file before it returns.
   *
   * @throws TracewrightError `ERR_SYSTEM` when a write failed. The write is repeated later.
   */
  flush(): void;
  /** Ends the trace with `c` and completes the file. A second call does nothing. */
  close(): void;
}

/** A kernel event trace that is open for writing. */
export type KernelEvents = KernelTrace & KernelEventMethods;

/**
 * Opens a kernel event trace: what the kernel of a simulated or a real machine does, as a complement
 * to the memory references of its programs.
 *
 * @param path of the file, which must not exist unless `exists` is `replace`; or a pipe or device of this user
 *   or of root; or `/dev/stdout`, `/dev/fd/5` or `{ fd: 5 }` for a descriptor that is open. The last three have
 *   no recovery, and a full ring waits for their reader.
 * @throws TracewrightError for a wrong option, `ERR_TRACE_EXISTS` for a file that exists or is being
 *   written, `ERR_SYSTEM` for a file that cannot be created.
 */
export function openKernelEvents(
  path: TraceTarget,
  options: KernelEventOptions = {},
): KernelEvents {
  options = ownOptions(options, TRACE_FILE_OPTIONS);
  const file = new TraceFile(path, 'laplace-kernel', options, END_LINE);
  const methods = Object.fromEntries(
    kernelEventShapes.map((shape) => [shape.kind, kernelEmitter(file, shape)]),
  ) as unknown as KernelEventMethods;
  return {
    ...methods,
    event: anyEventEmitter(file),
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
