import { closeSync } from 'node:fs';
import { nextSeen, readSeen } from './file-view.js';
import type { FileView } from './file-view.js';
import { openRegularFile, seenSize } from './regular-file.js';
import type { Links } from './regular-file.js';
import { wrapSystemError } from './system-error.js';

const WINDOW_BYTES = 1 << 20;

/** Reads bytes of a stream at a position, to the start of a buffer; how many. */
export type ReadAt = (into: Buffer, count: number, position: number) => number;

/** Bytes that the caller has open, and closes. */
export interface OpenBytes {
  size: number;
  read: ReadAt;
}

/**
 * Reads a file from front to back through a window of bounded size, for readers that must not need
 * more memory for a long trace than for a short one.
 */
export class FileWindow {
  readonly path: string;
  #size: number;
  #fd = -1;
  readonly #view: FileView | undefined;
  readonly #read: ReadAt;
  #bytes: Buffer;
  #start = 0;
  #end = 0;
  #offset = 0;

  /**
   * @param windowBytes what is read at once; smaller where many files are open together.
   * @param from whether a symbolic link at the path is followed; or the bytes, and the path is their name.
   * @throws TraceFormatError when this is not a regular file; TracewrightError `ERR_SYSTEM` when it cannot be
   *   opened, or later read.
   */
  constructor(path: string, windowBytes = WINDOW_BYTES, from: Links | OpenBytes = 'followed') {
    this.path = path;
    if (typeof from === 'object') {
      this.#read = from.read;
      this.#size = from.size;
    } else {
      const file = wrapSystemError('path', path, () => openRegularFile(path, from));
      this.#fd = file.fd;
      this.#view = file.view;
      this.#read = (into, count, position) =>
        readSeen(this.#fd, this.#view, into, 0, count, position);
      this.#size = seenSize(file);
    }
    this.#bytes = Buffer.allocUnsafe(Math.min(windowBytes, Math.max(this.#size, 1)));
  }

  /** Size of the file in bytes, as it was when it was opened, or as it was set since. */
  get size(): number {
    return this.#size;
  }

  /** Reads a file that is being written up to `size`. What was read ahead is read again. */
  resize(size: number): void {
    this.#size = size;
    this.#start = 0;
    this.#end = 0;
  }

  /** The reader's position, in bytes from the start of the file. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes between the reader and the end of the file. */
  get remaining(): number {
    return this.#size - this.#offset;
  }

  /**
   * The next `count` bytes without moving past them, or undefined when the file ends before. The
   * view is valid until the next call. The window grows to `count` when it has to; a caller that
   * takes counts from a file bounds them first (by `remaining`, and by what it is willing to hold).
   */
  peek(count: number): Buffer | undefined {
    // The window may have more than what is to be read of a file that is being written.
    if (count > this.remaining) return undefined;
    if (this.#end - this.#start < count && !this.#fill(count)) return undefined;
    return this.#bytes.subarray(this.#start, this.#start + count);
  }

  /** Moves `count` bytes on, also past what the window holds. */
  skip(count: number): void {
    this.#offset += count;
    const inside = this.#end - this.#start;
    if (count <= inside) {
      this.#start += count;
    } else {
      this.#start = 0;
      this.#end = 0;
    }
  }

  /** Reads from an offset on, wherever the reader is; returns the count of bytes. */
  readAt(into: Buffer, offset: number): number {
    return this.#read(into, into.length, offset);
  }

  /** Where a file that it has opened has bytes again, from an offset on; -1: only a hole follows. */
  nextData(offset: number): number {
    return nextSeen(this.#fd, this.#view, offset);
  }

  /** Moves to an offset, also back. */
  seek(offset: number): void {
    const start = this.#start + offset - this.#offset;
    const isInside = start >= 0 && start <= this.#end;
    if (!isInside) this.#end = 0;
    this.#start = isInside ? start : 0;
    this.#offset = offset;
  }

  close(): void {
    if (this.#fd === -1) return;
    closeSync(this.#fd);
    this.#fd = -1;
  }

  #fill(count: number): boolean {
    if (count > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(count);
      this.#bytes.copy(larger, 0, this.#start, this.#end);
      this.#bytes = larger;
    } else {
      this.#bytes.copyWithin(0, this.#start, this.#end);
    }
    this.#end -= this.#start;
    this.#start = 0;
    // What follows `size` may change still, and would be read again.
    const most = Math.min(this.#bytes.length, this.remaining);
    while (this.#end < count) {
      const left = most - this.#end;
      const read = wrapSystemError('path', this.path, () =>
        this.#read(this.#bytes.subarray(this.#end), left, this.#offset + this.#end),
      );
      if (read === 0) return false;
      this.#end += read;
    }
    return true;
  }
}
