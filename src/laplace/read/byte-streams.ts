import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { outOfRange, wrongType } from '../../core/errors.js';
import { viewOf } from '../../core/files/file-view.js';
import type { FileView } from '../../core/files/file-view.js';
import { pathTaken, removeReplaced, REPLACE_ADVICE } from '../../core/files/path-taken.js';
import { hasCode, systemError } from '../../core/files/system-error.js';
import { checkPath } from '../../core/options/argument.js';
import { PRIVATE_FILE } from '../../core/options/file-mode.js';

/** Reads bytes from a file or a stream into a given buffer. */
export interface ByteSource {
  /** Named in errors. */
  readonly path: string;
  /** Total bytes; 0 if unknown. */
  readonly total: number;
  /** Fills a part of `into` and resolves to the number of bytes; 0 at the end. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** Writes bytes to a file or a stream. */
export interface ByteSink {
  /** Resolves when the buffer of the bytes can be reused. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Awaits a system call and wraps its error. */
async function awaited<T>(field: string, value: unknown, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw systemError(field, value, error);
  }
}

class FileSource implements ByteSource {
  readonly path: string;
  readonly total: number;
  readonly #file: FileHandle;
  readonly #view: FileView | undefined;
  #position = 0;

  constructor(path: string, file: FileHandle, total: number, view: FileView | undefined) {
    this.path = path;
    this.#file = file;
    this.#view = view;
    this.total = view === undefined ? total : view.from + view.bytes.length;
  }

  async read(into: Uint8Array): Promise<number> {
    const view = this.#view;
    if (view !== undefined && this.#position >= view.from) return this.#readRest(into, view);
    const most = view === undefined ? into.length : view.from - this.#position;
    const reading = this.#file.read(into, 0, Math.min(into.length, most));
    const { bytesRead } = await awaited('from', this.path, reading);
    this.#position += bytesRead;
    return bytesRead;
  }

  #readRest(into: Uint8Array, { from, bytes }: FileView): number {
    const at = this.#position - from;
    const count = bytes.copy(into, 0, at, at + into.length);
    this.#position += count;
    return count;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

class StreamSource implements ByteSource {
  readonly path = 'stream';
  readonly total = 0;
  readonly #pieces: AsyncIterator<unknown>;
  #piece: Uint8Array = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#piece.length === 0) {
      const next = await awaited('from', 'stream', this.#pieces.next());
      if (next.done === true) return 0;
      if (!(next.value instanceof Uint8Array)) {
        throw wrongType('from', next.value, 'a stream of bytes');
      }
      this.#piece = next.value;
    }
    const count = Math.min(into.length, this.#piece.length);
    into.set(this.#piece.subarray(0, count));
    this.#piece = this.#piece.subarray(count);
    return count;
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

class FileSink implements ByteSink {
  readonly #path: string;
  readonly #file: FileHandle;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const writing = this.#file.write(bytes, done, bytes.length - done);
      done += (await awaited('to', this.#path, writing)).bytesWritten;
    }
  }

  close(): Promise<void> {
    return awaited('to', this.#path, this.#file.close());
  }
}

/** Leaves its stream open, which may be standard output. */
class StreamSink implements ByteSink {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  write(bytes: Uint8Array): Promise<void> {
    const writing = new Promise<void>((resolve, reject) => {
      // The callback gets an error too. Without a listener it would end the process.
      this.#stream.once('error', reject);
      // A copy, because a stream may keep the buffer.
      this.#stream.write(Buffer.from(bytes), (error) => {
        if (error) {
          // The listener stays for the event, which follows.
          reject(error);
          return;
        }
        this.#stream.off('error', reject);
        resolve();
      });
    });
    return awaited('to', 'stream', writing);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Opens the input of a conversion. */
export async function openSource(from: string | Readable): Promise<ByteSource> {
  if (typeof from === 'object' && (from as unknown) !== null && Symbol.asyncIterator in from)
    return new StreamSource(from);
  const path = checkPath('from', from);
  const file = await awaited('from', path, open(path, 'r'));
  try {
    const status = await awaited('from', path, file.stat());
    return new FileSource(path, file, status.size, viewOf(status));
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Opens the output of a conversion.
 *
 * @param from the input, which must not be the same file.
 */
export async function openSink(
  to: string | Writable,
  from: ByteSource,
  exists: 'error' | 'replace',
): Promise<ByteSink> {
  if (typeof to === 'object' && (to as unknown) !== null && typeof to.write === 'function')
    return new StreamSink(to);
  const path = checkPath('to', to);
  if (exists === 'replace' && from instanceof FileSource && (await isSame(path, from.path))) {
    throw outOfRange('to', to, 'another file than the input');
  }
  if (exists === 'replace') removeReplaced('to', path);
  try {
    return new FileSink(path, await open(path, 'wx', PRIVATE_FILE));
  } catch (error) {
    if (hasCode(error, 'EEXIST'))
      throw pathTaken('to', path, { advice: REPLACE_ADVICE, cause: error });
    throw systemError('to', path, error);
  }
}

async function isSame(one: string, other: string): Promise<boolean> {
  try {
    const [first, second] = await Promise.all([stat(one), stat(other)]);
    return first.dev === second.dev && first.ino === second.ino;
  } catch {
    return false;
  }
}
