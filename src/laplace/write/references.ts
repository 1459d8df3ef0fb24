import { oneOf, ownOptions } from '../../core/options/argument.js';
import type { Wide } from '../hexadecimal.js';
import { FETCH, LOAD, STORE } from '../layout.js';
import type { Endian, ReferenceForm } from '../layout.js';
import { ReferenceBatches } from './reference-batch.js';
import type { ReferenceArrays } from './reference-batch.js';
import { referenceEmitters } from './reference-emitter.js';
import type { EmitReference, EmitTyped } from './reference-emitter.js';
import { typeByte } from '../reference-values.js';
import { TRACE_FILE_OPTIONS, TraceFile } from './trace-file.js';
import type { TraceFileOptions, TraceTarget } from './trace-file.js';

/** Options of `openReferences`. */
export interface ReferenceOptions extends TraceFileOptions {
  /** `binary` (default): 18 bytes per record, fast. `text`: one line per record. */
  form?: ReferenceForm;
  /**
   * Byte order of binary records and of packed batches. Default `little`, the byte order of the x86
   * machines that Laplace simulated. The format does not say it.
   */
  endian?: Endian;
}

/** The names of {@link ReferenceOptions}. */
/**
 * A reference trace that is open for writing. After `close` every method throws `ERR_CLOSED`. A value
 * that does not fit its field throws `ERR_ARGUMENT_TYPE` or `ERR_ARGUMENT_RANGE`. A call that throws
 * records nothing.
 */
export class References {
  /**
   * Records a load (`r`).
   *
   * @param timestamp the machine's cycle counter: 0 to 2^53 - 1, or a bigint up to 2^64 - 1.
   *   Undefined: Tracewright's clock, nanoseconds of CLOCK_MONOTONIC.
   * @param length accessed bytes, 0 to 255.
   * @param space number of the virtual address space, 0 to 2^32 - 1.
   * @param address virtual address, 0 to 2^32 - 1.
   */
  readonly load: EmitReference;
  /** Records a store (`w`); arguments as of {@link load}. */
  readonly store: EmitReference;
  /** Records an instruction fetch (`i`); arguments as of {@link load}. */
  readonly fetch: EmitReference;
  readonly #emit: EmitTyped;
  readonly #batches: ReferenceBatches;
  readonly #file: TraceFile;

  /** @internal Use `openReferences`. */
  constructor(path: TraceTarget, options: ReferenceOptions) {
    options = ownOptions(options, [...TRACE_FILE_OPTIONS, 'form', 'endian']);
    const form = oneOf('form', options.form ?? 'binary', ['binary', 'text']);
    const endian = oneOf('endian', options.endian ?? 'little', ['little', 'big']);
    const kind = form === 'text' ? 'laplace-text' : 'laplace-binary';
    this.#file = new TraceFile(path, kind, options);
    const { ring } = this.#file;
    const little = endian === 'little';
    const emitters = referenceEmitters(this.#file, form, little);
    this.load = emitters.ofType('load', typeByte(LOAD));
    this.store = emitters.ofType('store', typeByte(STORE));
    this.fetch = emitters.ofType('fetch', typeByte(FETCH));
    this.#emit = emitters.any;
    this.#batches = new ReferenceBatches(ring, form, little);
  }

  /**
   * Records a reference of any type.
   *
   * @param type one printable ASCII character other than a space. The surviving part of Laplace's
   *   specification does not list the types; its only example is `r`.
   */
  reference(
    type: string,
    timestamp: Wide | undefined,
    length: number,
    space: number,
    address: number,
  ): void {
    this.#emit(typeByte(type), timestamp, length, space, address);
  }

  /**
   * Records many references at once.
   *
   * @param references complete records of 18 bytes in the trace's byte order, or a typed array for
   *   each field. All are checked before the first is recorded. Without timestamps all of them get
   *   the same one, from Tracewright's clock.
   */
  batch(references: Uint8Array | ReferenceArrays): void {
    this.#batches.record(references);
  }

  /** References dropped because the ring was full (`onFull: 'drop'`) or the file had a write error. */
  get dropped(): number {
    return this.#file.ring.droppedEvents;
  }

  /**
   * Writes everything recorded so far to the file before it returns.
   *
   * @throws TracewrightError `ERR_SYSTEM` when a write failed. The write is repeated later.
   */
  flush(): void {
    this.#file.flush();
  }

  /** Completes the file. A second call does nothing. */
  close(): void {
    this.#file.ring.close();
  }
}

/**
 * Opens a reference trace: the loads, stores and instruction fetches of a simulated machine.
 *
 * @param path of the file, which must not exist unless `exists` is `replace`; or a pipe or device of this user
 *   or of root; or `/dev/stdout`, `/dev/fd/5` or `{ fd: 5 }` for a descriptor that is open. The last three have
 *   no recovery, and a full ring waits for their reader.
 * @throws TracewrightError for a wrong option, `ERR_TRACE_EXISTS` for a file that exists or is being
 *   written, `ERR_SYSTEM` for a file that cannot be created.
 */
export function openReferences(path: TraceTarget, options: ReferenceOptions = {}): References {
  return new References(path, options);
}
