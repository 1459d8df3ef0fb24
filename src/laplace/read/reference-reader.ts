import type { TraceFormatError } from '../../core/errors.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { Progress } from '../../core/finding.js';
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
import { checkPath, oneOf, ownOptions } from '../../core/options/argument.js';

/** Options of the readers of reference traces. */
export interface ReadReferenceOptions {
  /** Default `binary`. */
  form?: ReferenceForm;
  /** Byte order of a binary trace, which does not say it. Default `little`. */
  endian?: Endian;
  /** Called from time to time with the bytes read and the total. */
  onProgress?: Progress | undefined;
}

/** One reference of a trace. */
export interface Reference {
  /** `r` load, `w` store, `i` instruction fetch, or another character. */
  type: string;
  timestamp: bigint;
  /** Accessed bytes. */
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
 * Iterates over a reference trace in bounded memory. The fields are those of the current reference:
 * no object is created for it.
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
  /** Records of the chunk, and the index of the next. */
  #count = 0;
  #index = 0;
  /** Where the chunk begins in the file. */
  #start = 0;
  #fault: TraceFormatError | undefined;

  constructor(path: string, options: ReadReferenceOptions = {}) {
    options = ownOptions(options, ['form', 'endian', 'onProgress']);
    const { form = 'binary', endian = 'little', onProgress } = options;
    oneOf('form', form, ['binary', 'text']);
    oneOf('endian', endian, ['little', 'big']);
    checkPath('path', path);
    this.path = path;
    this.#window = new FileWindow(path, CHUNK_BYTES);
    this.#little = form === 'text' || endian === 'little';
    this.#parser = form === 'text' ? new ReferenceParser(path, true, CHUNK_BYTES) : undefined;
    this.#onProgress = onProgress;
  }

  get timestamp(): bigint {
    return BigInt(this.timestampHigh) * TWO_TO_32 + BigInt(this.timestampLow);
  }

  /**
   * Moves to the next reference; false at the end of the trace.
   *
   * @throws TraceFormatError at the first invalid record.
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
    const chunk = window.peek(bytes);
    if (chunk === undefined) {
      // The file was truncated in the meantime.
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
 * Reads a reference trace from front to back, in bounded memory.
 *
 * @throws TraceFormatError at the first invalid record, with its offset and field. The references
 *   before it were yielded. TracewrightError `ERR_SYSTEM` when the file cannot be read.
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
