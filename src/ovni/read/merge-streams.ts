import { ownOptions } from '../../core/options/argument.js';
import { TraceFormatError } from '../../core/errors.js';
import type { Progress } from '../../core/finding.js';
import { openInOrder } from './ordered-reader.js';
import { PROGRESS_EVENTS } from './reader.js';
import type { StreamEvent, StreamReader } from './reader.js';
import { clockOffsetOf } from './trace-directory.js';
import type { ThreadStream, TraceDirectory } from './trace-directory.js';

/** All streams of a trace are open together, and there may be hundreds. */
const MERGE_WINDOW_BYTES = 64 * 1024;

/** An event of one of several streams. The object, like its `event`, is valid until the next one. */
export interface MergedEvent {
  stream: ThreadStream;
  event: StreamEvent;
  /** The event's clock with the offset of its host, in nanoseconds. */
  clock: bigint;
}

interface MergeOptions {
  onProgress?: Progress | undefined;
  /**
   * Called for a stream that cannot be read to its end, while the others continue. Default: throw the
   * error.
   */
  onFault?: ((fault: TraceFormatError) => void) | undefined;
}

interface Head {
  stream: ThreadStream;
  reader: StreamReader;
  offset: bigint;
  clock: bigint;
}

/** A binary heap with the smallest clock on top. */
class ClockHeap {
  readonly #heads: Head[] = [];

  push(head: Head): void {
    const heads = this.#heads;
    let at = heads.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (head.clock >= heads[parent]!.clock) break;
      heads[at] = heads[parent]!;
      at = parent;
    }
    heads[at] = head;
  }

  pop(): Head | undefined {
    const heads = this.#heads;
    const top = heads[0];
    const last = heads.pop();
    if (top === undefined || last === undefined || heads.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heads.length) break;
      if (child + 1 < heads.length && heads[child + 1]!.clock < heads[child]!.clock) child += 1;
      if (heads[child]!.clock >= last.clock) break;
      heads[at] = heads[child]!;
      at = child;
    }
    heads[at] = last;
    return top;
  }
}

/**
 * Yields the events of several streams in the order of their clocks, as the emulator reads them: the
 * earliest of the streams' next events comes first. Of a stream, only regions of unordered events are sorted:
 * if another part is not in order, the result is not either. Equal clocks of different streams come in no particular order.
 *
 * All streams are open at the same time. Memory grows with their number, not with their length.
 *
 * @throws TraceFormatError when a stream is not readable to its end, unless `onFault` is given.
 */
export function* mergeStreams(
  trace: TraceDirectory,
  streams: readonly ThreadStream[],
  options: MergeOptions = {},
): Generator<MergedEvent, void> {
  options = ownOptions(options);
  const heap = new ClockHeap();
  const readers: StreamReader[] = [];
  const { onProgress, onFault } = options;

  const step = (head: Head): void => {
    try {
      if (head.reader.next()) {
        head.clock = BigInt.asIntN(64, head.reader.event.clock + head.offset);
        heap.push(head);
        return;
      }
    } catch (error) {
      if (!(error instanceof TraceFormatError) || onFault === undefined) throw error;
      onFault(error);
    }
    head.reader.close();
  };

  try {
    for (const stream of streams) {
      try {
        const reader = openInOrder(stream.path, {
          version: stream.version,
          windowBytes: MERGE_WINDOW_BYTES,
        });
        readers.push(reader);
        step({ stream, reader, offset: clockOffsetOf(trace, stream), clock: 0n });
      } catch (error) {
        if (!(error instanceof TraceFormatError) || onFault === undefined) throw error;
        onFault(error);
      }
    }
    const total = readers.reduce((sum, reader) => sum + reader.size, 0);
    let count = 0;
    let head = heap.pop();
    if (head !== undefined) {
      const merged: MergedEvent = {
        stream: head.stream,
        event: head.reader.event,
        clock: head.clock,
      };
      for (; head !== undefined; head = heap.pop()) {
        merged.stream = head.stream;
        merged.event = head.reader.event;
        merged.clock = head.clock;
        yield merged;
        count += 1;
        if (onProgress !== undefined && count % PROGRESS_EVENTS === 0) {
          onProgress(
            readers.reduce((sum, reader) => sum + reader.offset, 0),
            total,
          );
        }
        step(head);
      }
    }
    onProgress?.(total, total);
  } finally {
    for (const reader of readers) reader.close();
  }
}
