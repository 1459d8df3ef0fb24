import { PerformanceObserver } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import { Guard } from '../guard.js';
import { performanceOrigin } from './performance-origin.js';

/** A garbage collection. Integers: nanoseconds of CLOCK_MONOTONIC. */
export interface Collection {
  readonly from: number;
  readonly to: number;
  /** One of Node's `NODE_PERFORMANCE_GC_…`. */
  readonly kind: number;
}

/** What Node's types leave out. */
type CollectionEntry = PerformanceEntry & { detail: { kind: number } };

/** Observes the garbage collections of the calling thread. */
export class GarbageCollections {
  readonly #guard = new Guard('garbage collections');
  readonly #observer: PerformanceObserver;
  readonly #takers: ((collection: Collection) => void)[] = [];
  #origin = 0;

  constructor() {
    this.#observer = new PerformanceObserver((list) => {
      this.#report(list.getEntries());
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** @param take is called with each collection, in the order of their beginnings. */
  reportTo(take: (collection: Collection) => void): void {
    this.#takers.push(take);
  }

  /** Reports what has not been delivered yet; for the end of the thread. */
  flush(): void {
    this.#report(this.#observer.takeRecords());
  }

  close(): void {
    this.#observer.disconnect();
    this.#guard.on = false;
  }

  #report(entries: readonly PerformanceEntry[]): void {
    if (!this.#guard.on || entries.length === 0) return;
    try {
      if (this.#origin === 0) this.#origin = performanceOrigin();
      const inOrder =
        entries.length === 1 ? entries : [...entries].sort((a, b) => a.startTime - b.startTime);
      for (const { startTime, duration, detail } of inOrder as readonly CollectionEntry[]) {
        const from = this.#origin + Math.round(startTime * 1e6);
        const to = Math.max(from, this.#origin + Math.round((startTime + duration) * 1e6));
        const collection = { from, to, kind: detail.kind };
        for (const take of this.#takers) take(collection);
      }
    } catch (error) {
      this.#guard.fail(error);
    }
  }
}
