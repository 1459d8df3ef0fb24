import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { hasCode } from '../../core/files/system-error.js';
import { removeReplaced } from '../../core/files/path-taken.js';
import { PRIVATE_FILE } from '../../core/options/file-mode.js';
import { terminalStyle, textStyle } from '../../look/report/print/text/text-style.js';
import type { TextStyle } from '../../look/report/print/text/text-style.js';
import { UsageError } from '../command.js';

const CHUNK_CHARACTERS = 64 << 10;

/** The reader of a pipe closed it (`| head`): the command ends without an error. */
export class ClosedPipe extends Error {}

/**
 * Writes text to a stream in chunks, no faster than the stream accepts it. Memory stays bounded when
 * the reader is slow.
 */
export class TextOutput {
  readonly #stream: Writable;
  readonly #path: string | undefined;
  readonly #encoding: 'utf8' | 'latin1';
  #text = '';
  #error: Error | undefined;

  /**
   * @param path of the file, for messages; undefined for standard output.
   * @param encoding `latin1` if each character of the text is one byte.
   */
  constructor(stream: Writable, path?: string, encoding: 'utf8' | 'latin1' = 'utf8') {
    this.#stream = stream;
    this.#path = path;
    this.#encoding = encoding;
    // The callback of the write gets it too. Without a listener it would end the process.
    stream.on('error', (error) => (this.#error ??= error));
  }

  /**
   * Adds text. The caller awaits the promise, if there is one, before it adds more.
   *
   * @throws ClosedPipe when the reader closed the pipe; UsageError when the file cannot be written.
   */
  write(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length >= CHUNK_CHARACTERS ? this.flush() : undefined;
  }

  /** Resolves when the system has accepted everything so far. */
  async flush(): Promise<void> {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    await this.#accepted(text);
  }

  /** Adds bytes after the text so far. They must not change until the promise resolves. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    await this.flush();
    await this.#accepted(bytes);
  }

  /** Flushes, and closes a file. Standard output stays open. */
  async end(): Promise<void> {
    await this.flush();
    if (this.#path === undefined) return;
    this.#stream.end();
    await finished(this.#stream).catch((error: unknown) => {
      throw this.#meaning(error as Error);
    });
  }

  #accepted(chunk: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(chunk, this.#encoding, (error) => {
        if (error) reject(this.#meaning(error));
        else resolve();
      });
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
 * Opens a new file. With `force` it takes the place of a regular file.
 *
 * @throws UsageError when the file exists and `force` is not set, or when it cannot be opened.
 * @throws TracewrightError when something else than a regular file would be replaced.
 */
export async function fileOutput(path: string, force: boolean): Promise<TextOutput> {
  if (force) removeReplaced('OUT', path);
  const stream = createWriteStream(path, { flags: 'wx', mode: PRIVATE_FILE });
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => {
      resolve();
    });
    stream.once('error', (error) => {
      const exists = hasCode(error, 'EEXIST');
      const message = exists
        ? `${path} exists; replace it with --force`
        : `cannot write ${path}: ${error.message}`;
      reject(new UsageError(message));
    });
  });
  return new TextOutput(stream, path);
}

/** Width and colours of standard output. */
export function ownStyle(): TextStyle {
  const { width, colour } = terminalStyle(process.stdout);
  return textStyle(width, colour);
}

/** Prints lines on standard output. */
export async function printLines(lines: Iterable<string>): Promise<void> {
  const output = standardOutput();
  for (const line of lines) {
    const full = output.write(`${line}\n`);
    if (full) await full;
  }
  await output.end();
}
