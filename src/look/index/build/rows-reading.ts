import { unixNow } from '../../../core/clock.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { MappedRings } from '../../../traces/mapped-rings.js';
import { TraceViews } from '../../../traces/trace-views.js';
import type { StoredPart } from '../parts/indexed-part.js';
import { readRows, unreadable } from '../sources/read-source.js';
import type { ReadSource } from '../sources/read-source.js';

/** A trace that grows is read again after so many times what its last reading took. */
const PAUSE = 10;

/** Reads the rows of a trace as its rings complete it. Nothing of it is kept in the cache. */
export class RowsReading {
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
  read(mapped: MappedRings): ReadSource {
    const known = this.#read;
    const begin = performance.now();
    const mayHaveMore = known?.state === 'growing' && begin >= this.#again;
    if (known !== undefined && !mayHaveMore) return known;
    this.#read = this.#withRings(mapped);
    const end = performance.now();
    this.#again = end + PAUSE * (end - begin);
    return this.#read;
  }

  #withRings(mapped: MappedRings): ReadSource {
    const views = new TraceViews(this.#ringDirs, mapped);
    try {
      const readAt = unixNow();
      const view = views.show(this.#trace);
      const source = readRows(this.#trace);
      const state = view?.state ?? 'ended';
      const faults = (view?.faults ?? []).map(unreadable);
      return {
        ...source,
        losses: [...source.losses, ...faults],
        state,
        readAt,
        parts: state === 'ended' ? source.parts : source.parts.map((part) => this.#shown(part)),
      };
    } finally {
      views.close();
    }
  }

  /** A part with records that only rings have: its file is opened as they complete it. */
  #shown(part: StoredPart): StoredPart {
    return {
      ...part,
      openAttributes: () => {
        const views = new TraceViews(this.#ringDirs);
        try {
          views.show(this.#trace);
          return part.openAttributes!();
        } finally {
          views.close();
        }
      },
    };
  }
}
