import { LITTLE } from '../../core/byte-order.js';
import { checkPath, limitFrom, ownOptions } from '../../core/options/argument.js';
import { outOfRange, TraceFormatError } from '../../core/errors.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { OpenBytes } from '../../core/files/file-window.js';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  JUMBO_DATA_OFFSET,
  JUMBO_FLAG,
  JUMBO_LENGTH_BYTES,
  MAX_PAYLOAD_BYTES,
  MCV_OFFSET,
  mcvOf,
  PAYLOAD_OFFSET,
  payloadBytes,
  payloadSizeCode,
  STREAM_HEADER_BYTES,
  STREAM_MAGIC,
  STREAM_VERSION,
  codeOf,
} from '../layout.js';

/** Codes of events that several readers follow. */
export const FLUSH_BEGIN = codeOf('OF[');
export const FLUSH_END = codeOf('OF]');
export const MARK_PUSH = codeOf('OM[');
export const MARK_POP = codeOf('OM]');
export const MARK_SET = codeOf('OM=');

/** Events between two calls of `onProgress`. */
export const PROGRESS_EVENTS = 1 << 16;
/** Bytes that are taken from the window at a time. */
const CHUNK_BYTES = 256 << 10;
/** Longest jumbo data that is read into memory by default. */
const DEFAULT_MAX_DATA_BYTES = 16 << 20;

export interface ReadStreamOptions {
  /** 1: events from byte 0. 3: the 8-byte header of `stream.obs` first. */
  version: 1 | 3;
  /**
   * Byte order of a version 1 stream. Default: this machine's. A version 3 stream has it in its
   * header.
   */
  littleEndian?: boolean;
  /** Longest jumbo data that is read into memory, in bytes. Default: 16 MiB. */
  maxDataBytes?: number;
  /** Bytes that are read at once. Default: 1 MiB. */
  windowBytes?: number;
}

/**
 * One event of a stream. A reader uses one object for all events of a stream. The object and its views
 * are valid until the next event is read, so copy what you keep.
 */
export interface StreamEvent {
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes of the whole event, jumbo data included. */
  readonly size: number;
  /** The high four bits of byte 0; 0x10 marks a jumbo event. */
  readonly flags: number;
  /** Model, category and value as three characters, one a byte. */
  readonly mcv: string;
  /** The same as a number, model << 16 | category << 8 | value, for comparisons. */
  readonly code: number;
  /** Nanoseconds of CLOCK_MONOTONIC. */
  readonly clock: bigint;
  /** The clock's upper and lower 32 bits, for comparisons that must not allocate. */
  readonly clockHigh: number;
  readonly clockLow: number;
  /** The payload, 0 or 2 to 16 bytes; of a jumbo event the four bytes of the data's length. */
  readonly payload: Uint8Array;
  readonly payloadBytes: number;
  readonly jumbo: boolean;
  /** Bytes of jumbo data; 0 for a normal event. */
  readonly dataBytes: number;
  /** The jumbo data; undefined for a normal event and for data longer than `maxDataBytes`. */
  readonly data: Uint8Array | undefined;
  /** The byte order of payload and data. */
  readonly littleEndian: boolean;
  /** The i32 at this offset, which must lie within the payload. */
  i32(offset: number): number;
  /** The i64 at this offset, which must lie within the payload. */
  i64(offset: number): bigint;
}

const noBytes = Buffer.alloc(0);

/**
 * Reads a stream event by event without an allocation for each: call {@link next} until it returns
 * false, and read {@link event} in between.
 */
export class StreamReader {
  readonly path: string;
  /** The present event; the same object every time. */
  readonly event: StreamEvent;
  readonly littleEndian: boolean;
  readonly #window: FileWindow;
  readonly #view: EventView;
  readonly #maxDataBytes: number;
  /** Where the next event begins, from the start of the chunk; after its end if data is long. */
  #next = 0;

  /**
   * @param from the stream's bytes, if they are open already.
   * @throws TraceFormatError when this is not a regular file, or a version 3 stream without its header.
   * @throws TracewrightError `ERR_SYSTEM` when the file cannot be opened.
   */
  constructor(path: string, options: ReadStreamOptions, from?: OpenBytes) {
    checkPath('path', path);
    options = ownOptions(options, ['version', 'littleEndian', 'maxDataBytes', 'windowBytes']);
    const version: unknown = options.version;
    if (version !== 1 && version !== 3) throw outOfRange('version', version, '1 or 3');
    this.path = path;
    this.#maxDataBytes = limitFrom(
      'maxDataBytes',
      options.maxDataBytes ?? DEFAULT_MAX_DATA_BYTES,
      0,
    );
    this.#window = new FileWindow(path, options.windowBytes, from);
    try {
      this.littleEndian =
        options.version === 3 ? this.#readHeader() : (options.littleEndian ?? LITTLE);
    } catch (error) {
      this.close();
      throw error;
    }
    this.#view = new EventView(this.littleEndian);
    this.event = this.#view;
  }

  /** Bytes of the file. */
  get size(): number {
    return this.#window.size;
  }

  /** Where the next event begins, in bytes from the start of the file. */
  get offset(): number {
    return this.#window.offset + this.#next;
  }

  /**
   * Moves to the next event; false at the end of the stream.
   *
   * @throws TraceFormatError if the file ends inside an event, and for a jumbo event whose length does
   *   not have four bytes. The reader stays at its event.
   */
  next(): boolean {
    const view = this.#view;
    let at = this.#next;
    let available = view.bytes.length - at;
    if (available < HEADER_BYTES + MAX_PAYLOAD_BYTES) {
      this.#refill(0);
      at = 0;
      available = view.bytes.length;
      if (available === 0) return false;
      if (available < HEADER_BYTES) throw this.#endsInside(available);
    }
    if (view.bytes[at + MCV_OFFSET] === 0) throw this.#isEmpty();
    const flags = view.bytes[at]!;
    let size: number;
    if ((flags & JUMBO_FLAG) === 0) {
      size = HEADER_BYTES + payloadBytes(flags);
      if (size > available) throw this.#endsInside(available);
      view.set(this.#window.offset, at, size, 0, false);
    } else {
      if ((flags & 0x0f) !== payloadSizeCode(JUMBO_LENGTH_BYTES)) {
        throw new TraceFormatError(
          this.path,
          this.offset,
          `a jumbo event with payload size code ${flags & 0x0f}`,
          { field: 'size', value: flags & 0x0f, limit: '3, for the four bytes of the data length' },
        );
      }
      if (available < JUMBO_DATA_OFFSET) throw this.#endsInside(available);
      const dataBytes = view.u32(at + PAYLOAD_OFFSET);
      size = JUMBO_DATA_OFFSET + dataBytes;
      const left = this.size - this.offset;
      if (size > left) throw this.#endsInside(left);
      const held = dataBytes <= this.#maxDataBytes;
      if (held && size > available) {
        this.#refill(size);
        at = 0;
      }
      view.set(this.#window.offset, at, size, dataBytes, held);
    }
    this.#next = at + size;
    return true;
  }

  /** Moves to where an event begins, in bytes from the start of the file. */
  seek(offset: number): void {
    const at = offset - this.#window.offset;
    if (at >= 0 && at <= this.#view.bytes.length) {
      this.#next = at;
      return;
    }
    this.#window.seek(offset);
    this.#next = 0;
    this.#view.take(noBytes);
  }

  close(): void {
    this.#window.close();
  }

  /** Takes the next chunk from the window, which then begins with the next event. */
  #refill(least: number): void {
    this.#window.skip(this.#next);
    this.#next = 0;
    const count = Math.min(this.#window.remaining, Math.max(CHUNK_BYTES, least));
    const chunk = count === 0 ? noBytes : this.#window.peek(count);
    if (chunk === undefined) {
      throw new TraceFormatError(
        this.path,
        this.offset,
        'the file became shorter while it was read',
      );
    }
    this.#view.take(chunk);
  }

  #endsInside(available: number): TraceFormatError {
    return new TraceFormatError(
      this.path,
      this.offset,
      `the file ends inside an event, ${available} bytes after its start`,
      { field: 'size', value: available },
    );
  }

  /** A hole in a sparse file could otherwise be read for hours. */
  #isEmpty(): TraceFormatError {
    return new TraceFormatError(
      this.path,
      this.offset,
      'no event begins here: its model is 0. The rest of the file may be empty',
      { field: 'model', value: 0, limit: 'an ASCII character' },
    );
  }

  #readHeader(): boolean {
    const header = this.#window.peek(STREAM_HEADER_BYTES);
    const expected = `"${STREAM_MAGIC}" and the u32 ${STREAM_VERSION}`;
    if (header === undefined) {
      throw new TraceFormatError(
        this.path,
        0,
        `the file has ${this.size} bytes, too few for the stream header`,
        { field: 'header', value: this.size, limit: expected },
      );
    }
    const magic = header.toString('latin1', 0, 4);
    const little = header.readUInt32LE(4) === STREAM_VERSION;
    const big = header.readUInt32BE(4) === STREAM_VERSION;
    if (magic !== STREAM_MAGIC || !(little || big)) {
      throw new TraceFormatError(
        this.path,
        0,
        `the stream header is ${header.toString('hex')}; expected ${expected}`,
        { field: 'header', value: header.toString('hex'), limit: expected },
      );
    }
    this.#window.skip(STREAM_HEADER_BYTES);
    return little;
  }
}

/** The one object that shows the reader's present event. */
class EventView implements StreamEvent {
  readonly littleEndian: boolean;
  /** The chunk that the event lies in. */
  bytes: Buffer = noBytes;
  offset = 0;
  size = 0;
  dataBytes = 0;
  #chunk: DataView = new DataView(noBytes.buffer, 0, 0);
  #at = 0;
  #held = false;

  constructor(littleEndian: boolean) {
    this.littleEndian = littleEndian;
  }

  take(bytes: Buffer): void {
    this.bytes = bytes;
    this.#chunk = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  set(chunkOffset: number, at: number, size: number, dataBytes: number, held: boolean): void {
    this.offset = chunkOffset + at;
    this.#at = at;
    this.size = size;
    this.dataBytes = dataBytes;
    this.#held = held;
  }

  u32(at: number): number {
    return this.#chunk.getUint32(at, this.littleEndian);
  }

  get flags(): number {
    return this.bytes[this.#at]! & 0xf0;
  }

  get jumbo(): boolean {
    return (this.bytes[this.#at]! & JUMBO_FLAG) !== 0;
  }

  get code(): number {
    const at = this.#at + MCV_OFFSET;
    return (this.bytes[at]! << 16) | (this.bytes[at + 1]! << 8) | this.bytes[at + 2]!;
  }

  get mcv(): string {
    return mcvOf(this.code);
  }

  get clock(): bigint {
    return this.#chunk.getBigUint64(this.#at + CLOCK_OFFSET, this.littleEndian);
  }

  get clockHigh(): number {
    return this.u32(this.#at + CLOCK_OFFSET + (this.littleEndian ? 4 : 0));
  }

  get clockLow(): number {
    return this.u32(this.#at + CLOCK_OFFSET + (this.littleEndian ? 0 : 4));
  }

  get payloadBytes(): number {
    return payloadBytes(this.bytes[this.#at]!);
  }

  get payload(): Uint8Array {
    const start = this.#at + PAYLOAD_OFFSET;
    return this.bytes.subarray(start, start + this.payloadBytes);
  }

  get data(): Uint8Array | undefined {
    if (!this.#held) return undefined;
    const start = this.#at + JUMBO_DATA_OFFSET;
    return this.bytes.subarray(start, start + this.dataBytes);
  }

  i32(offset: number): number {
    return this.#chunk.getInt32(this.#at + PAYLOAD_OFFSET + offset, this.littleEndian);
  }

  i64(offset: number): bigint {
    return this.#chunk.getBigInt64(this.#at + PAYLOAD_OFFSET + offset, this.littleEndian);
  }
}
