import { checkPath, ownOptions } from '../../core/options/argument.js';
import type { Progress } from '../../core/finding.js';
import { isArray, takeElements } from '../../core/taken-elements.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import type { SpanRecord } from '../span-record.js';
import { SpanDecoder } from './span-decoder.js';
import { spanFiles } from './span-files.js';

/** Options of `readSpans`. */
export interface ReadSpansOptions {
  /** Largest packet in bytes that is read: 64 MiB unless set. */
  maxPacketBytes?: number;
  /** Called now and then with the bytes done and in all, of each file. */
  onProgress?: Progress;
}

/** Time for which the reader keeps the event loop, in milliseconds. */
const TURN_MS = 10;
/** Paths in one call. */
const MAX_PATHS = 1_000_000;
/** Spans between two looks at the clock. */
const LOOK_EVERY = 1024;

/** Steps through the spans of one file, in its order: that of their ends in each thread. */
class SpanFile {
  readonly #cursor: PacketCursor;
  readonly #decoder: SpanDecoder;

  constructor(path: string, options: ReadSpansOptions) {
    this.#cursor = new PacketCursor(path, options);
    this.#decoder = new SpanDecoder(path);
  }

  /** The next span; undefined at the end. */
  next(): SpanRecord | undefined {
    const cursor = this.#cursor;
    const decoder = this.#decoder;
    while (cursor.next()) {
      if (cursor.isEvent) {
        const span = decoder.decode(cursor);
        if (span !== undefined) return span;
      } else {
        const packet = cursor.packet();
        if (packet.kind === 'metadata' && packet.epoch !== undefined) decoder.epoch = packet.epoch;
      }
    }
    return undefined;
  }

  close(): void {
    this.#cursor.close();
  }
}

type Step = IteratorResult<SpanRecord, undefined>;

/** Yields the spans of files, one file after another, and lets the event loop turn now and then. */
class SpanIterator implements AsyncIterableIterator<SpanRecord, undefined> {
  readonly #files: Iterator<string, void>;
  readonly #options: ReadSpansOptions;
  #file: SpanFile | undefined;
  #left = LOOK_EVERY;
  #until = performance.now() + TURN_MS;

  constructor(files: Iterator<string, void>, options: ReadSpansOptions) {
    this.#files = files;
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (--this.#left === 0) {
      this.#left = LOOK_EVERY;
      if (performance.now() >= this.#until) return this.#nextInTurn();
    }
    try {
      return Promise.resolve(this.#step());
    } catch (error) {
      this.#end();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was thrown
      return Promise.reject(error);
    }
  }

  return(): Promise<Step> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #step(): Step {
    for (;;) {
      const span = this.#file?.next();
      if (span !== undefined) return { done: false, value: span };
      this.#file?.close();
      this.#file = undefined;
      const file = this.#files.next();
      if (file.done === true) return { done: true, value: undefined };
      this.#file = new SpanFile(file.value, this.#options);
    }
  }

  #end(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#files.return?.();
  }

  async #nextInTurn(): Promise<Step> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = performance.now() + TURN_MS;
    return this.next();
  }
}

function* filesAt(paths: readonly string[]): Generator<string, void> {
  for (const path of paths) yield* spanFiles(path);
}

/** See `readSpans` of tracewright/spans. */
export function readSpansOf(
  paths: string | readonly string[],
  options: ReadSpansOptions,
): AsyncIterableIterator<SpanRecord, undefined> {
  const own = ownOptions<ReadSpansOptions>(options, { maxPacketBytes: true, onProgress: true });
  const given = isArray(paths)
    ? takeElements('paths', paths, MAX_PATHS, 'a list of paths')
    : [paths];
  const list = given.map((path) => checkPath('paths', path));
  return new SpanIterator(filesAt(list), own);
}
