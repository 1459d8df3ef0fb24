import { PerformanceObserver } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import { clockNow } from '../../core/clock.js';
import { Guard } from '../guard.js';
import type { CollectionEntry, CollectionStream } from './collection-stream.js';

/**
 * Observes the garbage collections of the calling thread. What records them is loaded with the first
 * one, so a thread without one has no stream of them.
 */
export class GarbageCollections {
  readonly #guard = new Guard('garbage collections');
  readonly #observer: PerformanceObserver;
  #firstClock: bigint;
  #begun = clockNow();
  #stream: CollectionStream | undefined;

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
    if (this.#stream?.isOpen !== true) return;
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
    this.#stream?.close();
  }

  #record(entries: readonly PerformanceEntry[]): void {
    if (!this.#guard.on || entries.length === 0) return;
    try {
      this.#openStream().record(entries as readonly CollectionEntry[]);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  #openStream(): CollectionStream {
    if (this.#stream === undefined) {
      const late = require('./collection-stream.js') as typeof import('./collection-stream.js');
      this.#stream = new late.CollectionStream();
    }
    if (!this.#stream.isOpen) this.#stream.open(this.#firstClock, this.#begun);
    return this.#stream;
  }
}
