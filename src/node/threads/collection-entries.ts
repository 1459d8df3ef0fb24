import { PerformanceObserver, performance } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import type { Collection } from './pauses.js';

/** Fields that Node's types leave out. */
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

/** The garbage collections of the calling thread by Node's own observer, where the native core has none. */
export class CollectionEntries {
  readonly #observer: PerformanceObserver;
  readonly #seen: PerformanceEntry[] = [];
  #origin = 0;

  constructor(listener: () => void) {
    this.#observer = new PerformanceObserver((list) => {
      this.#seen.push(...list.getEntries());
      listener();
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Collections that were not taken before, in the order of their starts. */
  take(): Collection[] {
    const entries = [...this.#seen.splice(0), ...this.#observer.takeRecords()];
    if (entries.length === 0) return [];
    if (this.#origin === 0) this.#origin = performanceOrigin();
    return (entries as CollectionEntry[])
      .sort((a, b) => a.startTime - b.startTime)
      .map(({ startTime, duration, detail }) => {
        const from = this.#origin + Math.round(startTime * 1e6);
        const to = Math.max(from, this.#origin + Math.round((startTime + duration) * 1e6));
        return { from, to, kind: detail.kind };
      });
  }

  close(): void {
    this.#observer.disconnect();
  }
}
