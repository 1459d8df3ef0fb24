import { checkPath, ownOptions } from '../../core/options/argument.js';
import type { Progress } from '../../core/finding.js';
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
/** Spans between two looks at the clock. */
const LOOK_EVERY = 1024;

/**
 * The spans of one file, in the order of the file, which is the order of their ends in each thread.
 *
 * @throws TraceFormatError at what is not as the format or the contract says; the spans before it have been
 *   yielded.
 */
export function* spansOfFile(
  path: string,
  options: ReadSpansOptions = {},
): Generator<SpanRecord, void> {
  const cursor = new PacketCursor(path, options);
  try {
    const decoder = new SpanDecoder(path);
    while (cursor.next()) {
      if (cursor.isEvent) {
        const span = decoder.decode(cursor);
        if (span !== undefined) yield span;
      } else {
        const packet = cursor.packet();
        if (packet.kind === 'metadata' && packet.epoch !== undefined) decoder.epoch = packet.epoch;
      }
    }
  } finally {
    cursor.close();
  }
}

function* spansOf(
  paths: readonly string[],
  options: ReadSpansOptions,
): Generator<SpanRecord, void> {
  for (const path of paths) {
    for (const file of spanFiles(path)) yield* spansOfFile(file, options);
  }
}

/** Yields what a generator does, and lets the event loop turn now and then. */
class SpanIterator implements AsyncIterableIterator<SpanRecord, undefined> {
  readonly #spans: Generator<SpanRecord, void>;
  #left = LOOK_EVERY;
  #until = performance.now() + TURN_MS;

  constructor(spans: Generator<SpanRecord, void>) {
    this.#spans = spans;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<SpanRecord, undefined>> {
    if (--this.#left === 0) {
      this.#left = LOOK_EVERY;
      if (performance.now() >= this.#until) return this.#nextInTurn();
    }
    return this.#step();
  }

  return(): Promise<IteratorResult<SpanRecord, undefined>> {
    this.#spans.return();
    return Promise.resolve({ done: true, value: undefined });
  }

  #step(): Promise<IteratorResult<SpanRecord, undefined>> {
    try {
      return Promise.resolve(this.#spans.next() as IteratorResult<SpanRecord, undefined>);
    } catch (error) {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was thrown
      return Promise.reject(error);
    }
  }

  async #nextInTurn(): Promise<IteratorResult<SpanRecord, undefined>> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = performance.now() + TURN_MS;
    return this.#step();
  }
}

/** See `readSpans` of tracewright/spans. */
export function readSpansOf(
  paths: string | readonly string[],
  options: ReadSpansOptions,
): AsyncIterableIterator<SpanRecord, undefined> {
  const own = ownOptions<ReadSpansOptions>(options, { maxPacketBytes: true, onProgress: true });
  const list = (Array.isArray(paths) ? (paths as readonly unknown[]) : [paths]).map((path) =>
    checkPath('paths', path),
  );
  return new SpanIterator(spansOf(list, own));
}
