import type { FoundTrace } from '../../../traces/find-traces.js';
import type { MappedRings } from '../../../traces/mapped-rings.js';
import { formatOf } from '../sources/read-source.js';
import type { ReadSource } from '../sources/read-source.js';
import { DrawnReading } from './drawn-reading.js';
import { HephReading } from './heph-reading.js';
import type { Keeping } from './keeping.js';

/** Reads a trace, and reads it again when it has changed. */
export class TraceReading {
  readonly trace: FoundTrace;
  readonly #drawn: DrawnReading;
  readonly #heph: HephReading;

  constructor(trace: FoundTrace, keeping: Keeping) {
    this.trace = trace;
    this.#heph = new HephReading(trace, keeping);
    this.#drawn = new DrawnReading(trace, keeping.ringDirs);
  }

  /**
   * The same object as before if nothing has changed.
   *
   * @param mapped the rings of live processes.
   */
  async read(mapped: MappedRings): Promise<ReadSource> {
    const format = formatOf(this.trace);
    return format === 'Heph' ? this.#heph.read(mapped) : this.#drawn.read(format, mapped);
  }

  close(): void {
    this.#heph.close();
  }
}
