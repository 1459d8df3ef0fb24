import { withChanges } from '../../core/json.js';
import { holdingSignals } from '../../core/signals.js';
import { setAttribute } from '../../ovni/write/attribute.js';
import { defineMark, labelMark, markInterval } from '../../ovni/write/mark.js';
import { StreamWriter } from '../../ovni/write/stream-writer.js';
import { readyThread, thread } from '../../ovni/write/thread.js';
import type { PastMarkKind } from './pauses.js';
import { beginStream, threadName } from './thread-stream.js';

/** Events of 24 bytes that come a few times a second. */
const RING_BYTES = 64 * 1024;

/**
 * What the calling thread did, as a stack of marks in a stream of their own: they are known only once they are
 * over, and a stream's clock must not go back.
 */
export class PastMarkStream {
  readonly #stream = new StreamWriter(true);
  readonly #kind: PastMarkKind;
  /** Clock of the last event in nanoseconds, which the next one must not precede. */
  #last = 0;

  constructor(kind: PastMarkKind) {
    this.#kind = kind;
  }

  get isOpen(): boolean {
    return this.#stream.process !== undefined;
  }

  /**
   * Begins the stream in the trace that the thread writes.
   *
   * @param firstClock nanoseconds at which the trace began.
   * @param begun nanoseconds at which the thread came into it.
   */
  open(firstClock: bigint, begun: bigint): void {
    // A signal in between would leave a stream without its beginning.
    holdingSignals(() => {
      this.#open(firstClock, begun);
    });
  }

  /** Records a mark that follows all earlier ones. Where they overlap, it begins later. */
  record(value: number, from: number, to: number): void {
    const begin = Math.max(this.#last, from);
    const end = Math.max(begin, to);
    markInterval(this.#stream, this.#kind.type, value, begin, end);
    this.#last = end;
  }

  close(): void {
    this.#stream.close();
  }

  #open(firstClock: bigint, begun: bigint): void {
    const stream = this.#stream;
    const { type, title, what, tidOffset, labels } = this.#kind;
    // The one that the thread writes to, which may not have followed the process to its next.
    const { process } = readyThread(what);
    const first = stream.metadata.marks.length === 0;
    if (first) setAttribute(stream, 'node', { thread: `${what} of ${threadName()}` });
    stream.open(
      withChanges(process!, { ring: withChanges(process!.ring, { ringBytes: RING_BYTES }) }),
      tidOffset + thread.tid,
      stream,
    );
    if (first) {
      defineMark(stream, type, title, true);
      for (const [value, label] of labels) labelMark(stream, type, value, label);
      // Not soon: the process may be ending, or be killed at once.
      stream.metadata.writeDue();
    }
    beginStream(stream, firstClock, begun, thread.tid);
    this.#last = Number(begun);
  }
}
