import { constants, performance } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import { withChanges } from '../../core/json.js';
import { holdingSignals } from '../../core/signals.js';
import { setAttribute } from '../../ovni/write/attribute.js';
import { defineMark, labelMark, markInterval } from '../../ovni/write/mark.js';
import { StreamWriter } from '../../ovni/write/stream-writer.js';
import { readyThread, thread } from '../../ovni/write/thread.js';
import { beginStream, threadName } from './thread-stream.js';

/** Mark type of the garbage collections of a thread. */
export const COLLECTION = 1;
/** Added to a thread's number, which Linux keeps below 2^22, for the stream of its collections. */
export const TID_OFFSET = 1_000_000_000;
/** Events of 24 bytes that come a few times a second. */
const RING_BYTES = 64 * 1024;

const KINDS: readonly (readonly [kind: number, label: string])[] = [
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor (scavenge)'],
  [2, 'minor (mark-sweep)'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major (mark-sweep-compact)'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental marking'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak callbacks'],
];

/** What Node's types leave out. */
export type CollectionEntry = PerformanceEntry & { detail: { kind: number } };

/** Nanoseconds of CLOCK_MONOTONIC at which `performance.now()` was 0. */
function performanceOrigin(): number {
  let best = { width: Infinity, origin: 0n };
  for (let i = 0; i < 8; i++) {
    const before = process.hrtime.bigint();
    const now = performance.now();
    const after = process.hrtime.bigint();
    const width = Number(after - before);
    if (width >= best.width) continue;
    best = { width, origin: (before + after) / 2n - BigInt(Math.round(now * 1e6)) };
  }
  return Number(best.origin);
}

/**
 * The garbage collections of the calling thread, as a stack of marks in a stream of their own: Node
 * reports a collection a turn of the event loop later, and a stream's clock must not go back.
 */
export class CollectionStream {
  readonly #stream = new StreamWriter();
  readonly #origin = performanceOrigin();
  /** Clock of the last event in nanoseconds, which the next one must not precede. */
  #last = 0;

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

  /** Collections are short and come one after another, so none is open while another begins. */
  record(entries: readonly CollectionEntry[]): void {
    const inOrder =
      entries.length === 1 ? entries : [...entries].sort((a, b) => a.startTime - b.startTime);
    for (const { startTime, duration, detail } of inOrder) {
      const from = Math.max(this.#last, this.#origin + Math.round(startTime * 1e6));
      const to = Math.max(from, this.#origin + Math.round((startTime + duration) * 1e6));
      markInterval(this.#stream, COLLECTION, detail.kind, from, to);
      this.#last = to;
    }
  }

  close(): void {
    this.#stream.close();
  }

  #open(firstClock: bigint, begun: bigint): void {
    const stream = this.#stream;
    // The one that the thread writes to, which may not have followed the process to its next.
    const { process } = readyThread('garbage collections');
    const first = stream.metadata.marks.length === 0;
    if (first) setAttribute(stream, 'node', { thread: `garbage collections of ${threadName()}` });
    stream.open(
      withChanges(process!, { ring: withChanges(process!.ring, { ringBytes: RING_BYTES }) }),
      TID_OFFSET + thread.tid,
      stream,
    );
    if (first) {
      defineMark(stream, COLLECTION, 'Garbage collection', true);
      for (const [kind, label] of KINDS) labelMark(stream, COLLECTION, kind, label);
    }
    beginStream(stream, firstClock, begun, thread.tid);
    this.#last = Number(begun);
  }
}
