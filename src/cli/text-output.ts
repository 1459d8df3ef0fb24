import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { hasCode } from '../core/files/system-error.js';
import { UsageError } from './command.js';

const CHUNK_CHARACTERS = 64 << 10;

/** The reader of a pipe has gone (`| head`): a reason to end, not an error. */
export class ClosedPipe extends Error {}

/**
 * Text that goes to a stream in chunks, no faster than the stream takes it: memory stays bounded
 * however slow the reader is.
 */
export class TextOutput {
  readonly #stream: Writable;
  readonly #path: string | undefined;
  readonly #encoding: 'utf8' | 'latin1';
  #text = '';
  #error: Error | undefined;

  /**
   * @param path The file behind the stream, for messages; undefined for standard output.
   * @param encoding `latin1` where a character of the text stands for a byte.
   */
  constructor(stream: Writable, path?: string, encoding: 'utf8' | 'latin1' = 'utf8') {
    this.#stream = stream;
    this.#path = path;
    this.#encoding = encoding;
    // Also given to the callback of the write; without a listener it would end the process.
    stream.on('error', (error) => (this.#error ??= error));
  }

  /**
   * Takes text; a promise is to be waited for before there is room for more.
   *
   * @throws ClosedPipe when nobody reads any more; UsageError when the file cannot be written.
   */
  write(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length >= CHUNK_CHARACTERS ? this.flush() : undefined;
  }

  /** Resolves once everything so far has been handed to the system. */
  async flush(): Promise<void> {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(text, this.#encoding, (error) => {
        if (error) reject(this.#meaning(error));
        else resolve();
      });
    });
  }

  /** Flushes; closes a file, leaves standard output open. */
  async end(): Promise<void> {
    await this.flush();
    if (this.#path === undefined) return;
    this.#stream.end();
    await finished(this.#stream).catch((error: unknown) => {
      throw this.#meaning(error as Error);
    });
  }

  #meaning(error: Error): Error {
    const cause = this.#error ?? error;
    if (hasCode(cause, 'EPIPE')) return new ClosedPipe();
    return new UsageError(`cannot write ${this.#path ?? 'standard output'}: ${cause.message}`);
  }
}

/** Standard output. */
export function standardOutput(encoding: 'utf8' | 'latin1' = 'utf8'): TextOutput {
  return new TextOutput(process.stdout, undefined, encoding);
}

/**
 * A new file, or with `force` one that takes the place of what is there.
 *
 * @throws UsageError when the file exists and `force` is not set, or cannot be opened.
 */
export async function fileOutput(path: string, force: boolean): Promise<TextOutput> {
  const stream = createWriteStream(path, { flags: force ? 'w' : 'wx' });
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => {
      resolve();
    });
    stream.once('error', (error) => {
      const exists = hasCode(error, 'EEXIST');
      const message = exists
        ? `${path} exists already; --force overwrites it`
        : `cannot write ${path}: ${error.message}`;
      reject(new UsageError(message));
    });
  });
  return new TextOutput(stream, path);
}
