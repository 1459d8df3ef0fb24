import { hasCode } from '../../../core/files/system-error.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { MappedRings } from '../../../traces/mapped-rings.js';
import { unreadSource } from '../sources/read-source.js';
import type { ReadSource } from '../sources/read-source.js';
import { RowsReading } from './rows-reading.js';
import { HephReading } from './heph-reading.js';
import type { Keeping } from './keeping.js';

/** How often a trace is looked for again of which a file is gone. */
const MOST_VANISHED = 2;

/** Reads a trace, and reads it again when it has changed. */
export class TraceReading {
  readonly trace: FoundTrace;
  readonly #rows: RowsReading;
  readonly #heph: HephReading;
  #vanished = 0;
  #failed: { reason: string; source: ReadSource } | undefined;

  constructor(trace: FoundTrace, keeping: Keeping) {
    this.trace = trace;
    this.#heph = new HephReading(trace, keeping);
    this.#rows = new RowsReading(trace, keeping.ringDirs);
  }

  /**
   * The same object as before if nothing has changed.
   *
   * @param mapped the rings of live processes.
   */
  async read(mapped: MappedRings): Promise<ReadSource> {
    try {
      const hasSpans = this.trace.format.content === 'spans';
      return await (hasSpans ? this.#heph : this.#rows).read(mapped);
    } catch (error) {
      // A file that was deleted meanwhile is no source any more: the traces are looked for again.
      if (hasCode(error, 'ENOENT') && this.#vanished++ < MOST_VANISHED) throw error;
      return this.#unread(error);
    }
  }

  /** The same object as long as the fault is the same. */
  #unread(error: unknown): ReadSource {
    const reason = String(error);
    if (this.#failed?.reason !== reason) {
      this.#failed = { reason, source: unreadSource(this.trace, error) };
    }
    return this.#failed.source;
  }

  close(): void {
    this.#heph.close();
  }
}
