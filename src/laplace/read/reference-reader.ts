import type { TraceFormatError } from '../../core/errors.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { Progress } from '../../core/finding.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import {
  ADDRESS_OFFSET,
  LENGTH_OFFSET,
  RECORD_BYTES,
  SPACE_OFFSET,
  TIMESTAMP_OFFSET,
} from '../layout.js';
import type { Endian, ReferenceForm } from '../layout.js';
import { firstWrongType } from '../reference-values.js';
import { cutLine, cutRecord, wrongTypeAt } from './reference-faults.js';
import { ReferenceParser } from './reference-parser.js';
import { checkOptionNames, checkPath, oneOf } from '../../core/options/argument.js';

/** What the readers of reference traces can be told; nothing in a binary file says it. */
export interface ReadReferenceOptions {
  /** Default `binary`. */
  form?: ReferenceForm;
  /** Byte order of a binary trace. Default `little`. */
  endian?: Endian;
  /** Called now and then with the bytes done and the bytes in all. */
  onProgress?: Progress | undefined;
}

/** One reference of a trace. */
export interface Reference {
  /** `r` load, `w` store, `i` instruction fetch, or what else the trace says. */
  type: string;
  timestamp: bigint;
  /** Bytes that were accessed. */
  length: number;
  /** Virtual address space. */
  space: number;
  /** Virtual address. */
  address: number;
  /** Bytes from the start of the file to the record or line. */
  offset: number;
}

const CHUNK_BYTES = 1 << 18;
const TWO_TO_32 = 0x1_0000_0000n;

/**
 * Goes through a reference trace in memory that does not grow with it. The fields are those of the
 * reference that the last `next` has come to; no object is made for any.
 */
export class ReferenceReader {
  readonly path: string;
  type = 0;
  timestampHigh = 0;
  timestampLow = 0;
  length = 0;
  space = 0;
  address = 0;
  offset = 0;
  readonly #window: FileWindow;
  readonly #little: boolean;
  readonly #parser: ReferenceParser | undefined;
  readonly #onProgress: Progress | undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Records of the chunk, and which one is next. */
  #count = 0;
  #index = 0;
  /** Where the chunk begins in the file. */
  #start = 0;
  #fault: TraceFormatError | undefined;

  constructor(path: string, options: ReadReferenceOptions = {}) {
    checkOptionNames<ReadReferenceOptions>(options, { form: true, endian: true, onProgress: true });
    const { form = 'binary', endian = 'little', onProgress } = options;
    oneOf('form', form, ['binary', 'text']);
    oneOf('endian', endian, ['little', 'big']);
    checkPath('path', path);
    this.path = path;
    this.#window = wrapSystemError('path', path, () => new FileWindow(path, CHUNK_BYTES));
    this.#little = form === 'text' || endian === 'little';
    this.#parser = form === 'text' ? new ReferenceParser(path, true, CHUNK_BYTES) : undefined;
    this.#onProgress = onProgress;
  }

  get timestamp(): bigint {
    return BigInt(this.timestampHigh) * TWO_TO_32 + BigInt(this.timestampLow);
  }

  /**
   * Comes to the next reference; false at the end of the trace.
   *
   * @throws TraceFormatError at the first record that is not as the format says.
   */
  next(): boolean {
    while (this.#index === this.#count) {
      if (this.#fault !== undefined) throw this.#fault;
      if (!this.#nextChunk()) return false;
    }
    const view = this.#view;
    const little = this.#little;
    const index = this.#index++;
    const at = index * RECORD_BYTES;
    this.type = view.getUint8(at);
    this.timestampLow = view.getUint32(at + TIMESTAMP_OFFSET + (little ? 0 : 4), little);
    this.timestampHigh = view.getUint32(at + TIMESTAMP_OFFSET + (little ? 4 : 0), little);
    this.length = view.getUint8(at + LENGTH_OFFSET);
    this.space = view.getUint32(at + SPACE_OFFSET, little);
    this.address = view.getUint32(at + ADDRESS_OFFSET, little);
    this.offset = this.#start + (this.#parser === undefined ? at : this.#parser.lineStarts[index]!);
    return true;
  }

  close(): void {
    this.#window.close();
  }

  #nextChunk(): boolean {
    const window = this.#window;
    const { offset, remaining, size } = window;
    this.#onProgress?.(offset, size);
    if (remaining === 0) return false;
    this.#start = offset;
    this.#index = 0;
    const bytes = Math.min(remaining, CHUNK_BYTES);
    const chunk = wrapSystemError('path', this.path, () => window.peek(bytes));
    if (chunk === undefined) {
      // Somebody has shortened it meanwhile.
      this.#fault = this.#cut(offset, 0);
    } else if (this.#parser === undefined) {
      this.#takeRecords(chunk);
    } else {
      this.#takeLines(this.#parser, chunk, remaining);
    }
    return true;
  }

  #takeRecords(chunk: Uint8Array): void {
    const whole = Math.floor(chunk.length / RECORD_BYTES);
    if (whole === 0) this.#fault = this.#cut(this.#start, chunk.length);
    this.#view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
    this.#count = firstWrongType(chunk, 0, whole);
    if (this.#count < whole) {
      const at = this.#count * RECORD_BYTES;
      this.#fault = wrongTypeAt(this.path, this.#start + at, chunk[at]!);
    }
    this.#window.skip(whole * RECORD_BYTES);
  }

  #takeLines(parser: ReferenceParser, chunk: Uint8Array, remaining: number): void {
    this.#count = parser.parse(chunk, this.#start);
    const { records } = parser;
    this.#view = new DataView(records.buffer, records.byteOffset, records.length);
    this.#fault = parser.fault;
    if (this.#count === 0 && chunk.length === remaining) {
      this.#fault ??= this.#cut(this.#start, chunk.length);
    }
    this.#window.skip(parser.consumed);
  }

  #cut(offset: number, bytes: number): TraceFormatError {
    return this.#parser === undefined
      ? cutRecord(this.path, offset, bytes)
      : cutLine(this.path, offset);
  }
}

/**
 * Reads a reference trace from front to back, in memory that does not grow with the file.
 *
 * @throws TraceFormatError at the first record that is not as the format says, with its offset and
 *   the field; the references before it have been yielded. TracewrightError `ERR_SYSTEM` when the
 *   file cannot be read.
 */
export function* readReferences(
  path: string,
  options: ReadReferenceOptions = {},
): Generator<Reference, void> {
  const reader = new ReferenceReader(path, options);
  try {
    while (reader.next()) {
      const { type, timestamp, length, space, address, offset } = reader;
      yield { type: String.fromCharCode(type), timestamp, length, space, address, offset };
    }
  } finally {
    reader.close();
  }
}
