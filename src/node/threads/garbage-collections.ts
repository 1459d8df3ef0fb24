import { constants, performance, PerformanceObserver } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import { clockNow } from '../../core/clock.js';
import { holdingSignals } from '../../core/signals.js';
import { setAttribute } from '../../ovni/write/attribute.js';
import { defineMark, labelMark, markInterval } from '../../ovni/write/mark.js';
import { StreamWriter } from '../../ovni/write/stream-writer.js';
import { readyThread, thread } from '../../ovni/write/thread.js';
import { Guard } from '../guard.js';
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
type CollectionEntry = PerformanceEntry & { detail: { kind: number } };

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
 * reports a collection a turn of the event loop later, and a stream's clock must not go back. The
 * stream begins with the first collection, so a thread without one has none.
 */
export class GarbageCollections {
  readonly #guard = new Guard('garbage collections');
  readonly #stream = new StreamWriter();
  #firstClock: bigint;
  #begun = clockNow();
  readonly #origin = performanceOrigin();
  readonly #observer: PerformanceObserver;
  /** Clock of the last event in nanoseconds, which the next one must not precede. */
  #last = 0;

  /** @param firstClock nanoseconds at which the run began. */
  constructor(firstClock: bigint) {
    this.#firstClock = firstClock;
    this.#observer = new PerformanceObserver((list) => {
      this.#record(list.getEntries());
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Records what has not been delivered yet; for the end of the thread. */
  flush(): void {
    this.#record(this.#observer.takeRecords());
  }

  /** Ends the stream together with the trace that it belongs to. */
  leaveTrace(): void {
    if (this.#stream.process === undefined) return;
    this.flush();
    this.#stream.close();
  }

  /** @param firstClock nanoseconds at which the next trace has begun. */
  enterTrace(firstClock: bigint): void {
    this.#firstClock = firstClock;
    this.#begun = clockNow();
  }

  /** Ends the stream on the spot instead of leaving that to the end of the thread. */
  close(): void {
    this.#observer.disconnect();
    this.#guard.on = false;
    this.#stream.close();
  }

  #record(entries: readonly PerformanceEntry[]): void {
    if (!this.#guard.on || entries.length === 0) return;
    try {
      // A signal in between would leave a stream without its beginning.
      if (this.#stream.process === undefined)
        holdingSignals(() => {
          this.#open();
        });
      const inOrder =
        entries.length === 1 ? entries : [...entries].sort((a, b) => a.startTime - b.startTime);
      for (const entry of inOrder) this.#emit(entry as CollectionEntry);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  #open(): void {
    const stream = this.#stream;
    // The one that the thread writes to, which may not have followed the process to its next.
    const { process } = readyThread('garbage collections');
    const first = stream.metadata.marks.length === 0;
    if (first) setAttribute(stream, 'node', { thread: `garbage collections of ${threadName()}` });
    stream.open(
      { ...process!, ring: { ...process!.ring, ringBytes: RING_BYTES } },
      TID_OFFSET + thread.tid,
      stream,
    );
    if (first) {
      defineMark(stream, COLLECTION, 'Garbage collection', true);
      for (const [kind, label] of KINDS) labelMark(stream, COLLECTION, kind, label);
    }
    beginStream(stream, this.#firstClock, this.#begun, thread.tid);
    this.#last = Number(this.#begun);
  }

  /** Collections are short and come one after another, so none is open while another begins. */
  #emit({ startTime, duration, detail }: CollectionEntry): void {
    const from = Math.max(this.#last, this.#origin + Math.round(startTime * 1e6));
    const to = Math.max(from, this.#origin + Math.round((startTime + duration) * 1e6));
    markInterval(this.#stream, COLLECTION, detail.kind, from, to);
    this.#last = to;
  }
}
