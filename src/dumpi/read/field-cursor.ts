import { limitFrom, oneOf, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError } from '../../core/errors.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { Progress } from '../../core/finding.js';

/** Bytes are taken out of the file's window in stretches of this size. */
const STRETCH_BYTES = 256 << 10;

/** The largest record that is read by default: 64 MiB. */
const DEFAULT_MAX_RECORD_BYTES = 64 << 20;

/** Options of a cursor. */
export interface FieldCursorOptions {
  /** Records that say to be larger are refused: 64 MiB unless set. */
  maxRecordBytes?: number | undefined;
  /** Called with the bytes read and the size of the file, four times a mebibyte at most. */
  onProgress?: Progress | undefined;
  /** How bytes of text become characters: as UTF-8 unless set, or each byte one character. */
  encoding?: TextEncoding | undefined;
}

/** `latin1` keeps every byte, so that text can be written again as it was. */
export type TextEncoding = 'utf8' | 'latin1';

const TEXT_ENCODINGS: readonly TextEncoding[] = ['utf8', 'latin1'];

/** @throws TracewrightError that names an unknown option, whatever of the file is read. */
export function cursorOptions(options: FieldCursorOptions): FieldCursorOptions {
  return ownOptions(options, ['maxRecordBytes', 'onProgress', 'encoding']);
}

/**
 * Reads fields one after the other from a part of a file, in memory that does not grow with it. No
 * count in the file is trusted beyond the bytes that are there and the largest record
 * of the reader's options.
 */
export class FieldCursor {
  readonly path: string;
  /** Bytes from the start of the file to the end of the part. */
  readonly limit: number;
  readonly #window: FileWindow;
  readonly #maxRecordBytes: number;
  readonly #encoding: TextEncoding;
  readonly #onProgress: Progress | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #base: number;
  #at = 0;
  #record: number;
  #reachedLimit = false;

  /**
   * @param from Bytes from the start of the file to the first field.
   * @param limit Bytes from the start of the file to the end of what may be read; the end of the
   *   file unless set.
   * @throws TracewrightError `ERR_SYSTEM` when the file cannot be opened.
   */
  constructor(path: string, from: number, limit?: number, options: FieldCursorOptions = {}) {
    options = cursorOptions(options);
    this.#encoding = oneOf('encoding', options.encoding ?? 'utf8', TEXT_ENCODINGS);
    this.path = path;
    this.#window = new FileWindow(path, STRETCH_BYTES);
    this.limit = Math.min(limit ?? this.#window.size, this.#window.size);
    this.#maxRecordBytes = limitFrom(
      'maxRecordBytes',
      options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES,
      0,
    );
    this.#onProgress = options.onProgress;
    this.#base = from;
    this.#record = from;
  }

  /** Bytes from the start of the file to the next field. */
  get offset(): number {
    return this.#base + this.#at;
  }

  /** Bytes from here to the end of the part. */
  get remaining(): number {
    return this.limit - this.offset;
  }

  /** Whether a field could not be read because it goes on after the end of the part. */
  get reachedLimit(): boolean {
    return this.#reachedLimit;
  }

  get fileSize(): number {
    return this.#window.size;
  }

  /** Moves to an offset of the part, also back. */
  seek(offset: number): void {
    const at = offset - this.#base;
    if (at >= 0 && at <= this.#bytes.length) {
      this.#at = at;
      return;
    }
    this.#base = offset;
    this.#at = 0;
    this.#bytes = Buffer.alloc(0);
  }

  /** Says that a record begins here: errors name its offset, and its size is counted from here. */
  beginRecord(): void {
    this.#record = this.offset;
  }

  u8(field: string): number {
    const at = this.#take(1, field);
    return this.#view.getUint8(at);
  }

  i8(field: string): number {
    const at = this.#take(1, field);
    return this.#view.getInt8(at);
  }

  u16(field: string): number {
    const at = this.#take(2, field);
    return this.#view.getUint16(at);
  }

  i16(field: string): number {
    const at = this.#take(2, field);
    return this.#view.getInt16(at);
  }

  u32(field: string): number {
    const at = this.#take(4, field);
    return this.#view.getUint32(at);
  }

  i32(field: string): number {
    const at = this.#take(4, field);
    return this.#view.getInt32(at);
  }

  i64(field: string): bigint {
    const at = this.#take(8, field);
    return this.#view.getBigInt64(at);
  }

  u64(field: string): bigint {
    const at = this.#take(8, field);
    return this.#view.getBigUint64(at);
  }

  /** An i32 count of elements of `bytes` bytes at least. */
  count(field: string, bytes: number): number {
    const count = this.i32(field);
    if (count < 0) throw this.fault(`${field} has ${count} elements`, field, count, 'at least 0');
    if (count * bytes > this.remaining) {
      this.#reachedLimit = true;
      throw this.fault(
        `${field} says to have ${count} elements of ${bytes} bytes or more, but the rest has ${this.remaining} bytes`,
        field,
        count,
      );
    }
    return count;
  }

  /** `length` bytes as text; where that is to be UTF-8, what is not becomes U+FFFD. */
  text(field: string, length: number): string {
    if (length === 0) return '';
    const at = this.#take(length, field);
    return this.#bytes.toString(this.#encoding, at, at + length);
  }

  /** A string of the sections: a u16 length and the bytes. */
  string(field: string): string {
    return this.text(field, this.u16(field));
  }

  /** The error for a record that is not as the format says. */
  fault(message: string, field?: string, value?: unknown, limit?: string): TraceFormatError {
    return new TraceFormatError(this.path, this.#record, message, {
      field,
      limit,
      ...(value === undefined ? {} : { value }),
    });
  }

  close(): void {
    this.#window.close();
  }

  /**
   * Where `count` bytes stand in the stretch that is in memory, which may be another one from now on;
   * the cursor moves past them.
   */
  #take(count: number, field: string): number {
    if (count > this.#bytes.length - this.#at) this.#load(count, field);
    const at = this.#at;
    this.#at = at + count;
    return at;
  }

  #load(count: number, field: string): void {
    if (count > this.remaining) {
      this.#reachedLimit = true;
      throw this.fault(
        `${field} is cut: it needs ${count} bytes, ${Math.max(this.remaining, 0)} are left`,
        field,
      );
    }
    if (this.offset + count - this.#record > this.#maxRecordBytes) {
      throw this.fault(
        `the record has more than the ${this.#maxRecordBytes} bytes that are read`,
        field,
      );
    }
    const window = this.#window;
    window.seek(this.offset);
    this.#onProgress?.(window.offset, window.size);
    const stretch = Math.max(count, Math.min(STRETCH_BYTES, this.remaining));
    const bytes = window.peek(stretch);
    if (bytes === undefined) throw this.fault(`${field} is cut: the file became shorter`, field);
    this.#base = window.offset;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = 0;
  }
}
