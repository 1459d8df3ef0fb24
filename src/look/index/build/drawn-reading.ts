import type { FoundTrace } from '../../../traces/find-traces.js';
import type { MappedRings } from '../../../traces/mapped-rings.js';
import { TraceViews } from '../../../traces/trace-views.js';
import type { Source } from '../look-index.js';
import { readDrawn, unreadable } from '../sources/read-source.js';
import type { ReadSource } from '../sources/read-source.js';

/** A trace that grows is read again after so many times what its last reading took. */
const PAUSE = 10;

/** Reads a trace that is not of Heph, as its rings complete it. Nothing of it is kept in the cache. */
export class DrawnReading {
  readonly #trace: FoundTrace;
  readonly #ringDirs: readonly string[];
  #read: ReadSource | undefined;
  #again = 0;

  /** @param ringDirs further directories with rings. */
  constructor(trace: FoundTrace, ringDirs: readonly string[]) {
    this.#trace = trace;
    this.#ringDirs = ringDirs;
  }

  /** The same object as before, unless a live process has written more. */
  read(format: Source['format'], mapped: MappedRings): ReadSource {
    const known = this.#read;
    const begin = performance.now();
    const mayHaveMore = known?.state === 'growing' && begin >= this.#again;
    if (known !== undefined && !mayHaveMore) return known;
    this.#read = this.#withRings(mapped, () => readDrawn(this.#trace, format));
    const end = performance.now();
    this.#again = end + PAUSE * (end - begin);
    return this.#read;
  }

  #withRings(mapped: MappedRings, read: () => ReadSource): ReadSource {
    const views = new TraceViews(this.#ringDirs, mapped);
    try {
      const view = views.show(this.#trace);
      const source = read();
      const { messages } = source;
      const faults = (view?.faults ?? []).map(unreadable);
      return {
        ...source,
        losses: [...source.losses, ...faults],
        state: view?.state ?? 'ended',
        ...(messages !== undefined && { messages: () => this.#whileShown(messages) }),
      };
    } finally {
      views.close();
    }
  }

  /** Reads something later, when the rings may hold more: what is only there has no row. */
  #whileShown<T>(read: () => T): T {
    const views = new TraceViews(this.#ringDirs);
    try {
      views.show(this.#trace);
      return read();
    } finally {
      views.close();
    }
  }
}
