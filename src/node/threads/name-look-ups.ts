import { PerformanceObserver } from 'node:perf_hooks';
import { Guard } from '../guard.js';
import type { TimeSums } from './activity-recorders.js';

/**
 * Counts the look-ups of the calling thread. Node reports those that succeed, in batches and without
 * their context.
 */
export class NameLookUps {
  readonly #guard = new Guard('look-ups of names');
  #sums: TimeSums | undefined;

  constructor() {
    const observer = new PerformanceObserver((list) => {
      if (!this.#guard.on) return;
      try {
        for (const { duration } of list.getEntries()) this.#add(duration);
      } catch (error) {
        this.#guard.fail(error);
      }
    });
    observer.observe({ entryTypes: ['dns'] });
  }

  /** Those since the last call; undefined: none. */
  take(): TimeSums | undefined {
    const sums = this.#sums;
    this.#sums = undefined;
    return sums;
  }

  #add(ms: number): void {
    this.#sums ??= { ns: 0, count: 0 };
    this.#sums.ns += Math.round(ms * 1e6);
    this.#sums.count += 1;
  }
}
