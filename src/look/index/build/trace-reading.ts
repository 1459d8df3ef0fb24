import { statSync } from 'node:fs';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { MappedRings } from '../../../traces/mapped-rings.js';
import { cachedSource } from './build-source.js';
import type { BuildProgress } from './build-source.js';
import type { CacheDirectory } from '../cache/cache-directory.js';
import { finalEndOf, readLivingRows } from './living-rows.js';
import type { LivingRows } from './living-rows.js';
import { DrawnReading } from './drawn-reading.js';
import { formatOf, inMemory, readHeph } from '../sources/read-source.js';
import type { ReadSource } from '../sources/read-source.js';
import { joinSource } from '../sources/source-joins.js';

/** Where the index of a trace is kept. */
export interface Keeping {
  leastCachedBytes: number;
  directory(): CacheDirectory;
  onProgress: BuildProgress | undefined;
}

/** Reads a trace, and reads it again when it has changed. */
export class TraceReading {
  readonly trace: FoundTrace;
  readonly #keeping: Keeping;
  #final: ReadSource | undefined;
  #finalSignature = '';
  #signature = '';
  #read: ReadSource | undefined;
  readonly #drawn: DrawnReading;

  constructor(trace: FoundTrace, keeping: Keeping) {
    this.trace = trace;
    this.#keeping = keeping;
    this.#drawn = new DrawnReading(trace);
  }

  /**
   * The same object as before if nothing has changed.
   *
   * @param mapped the rings of live processes.
   */
  async read(mapped: MappedRings): Promise<ReadSource> {
    const { path } = this.trace;
    const format = formatOf(this.trace);
    if (format !== 'Heph') return this.#drawn.read(format, mapped);
    const { size, mtimeNs } = statSync(path, { bigint: true });
    const end = Math.min(finalEndOf(path) ?? Number(size), Number(size));
    const finalSignature = `${size} ${mtimeNs} ${end}`;
    if (this.#final === undefined || finalSignature !== this.#finalSignature) {
      this.#final = await this.#readFinal(end);
      this.#finalSignature = finalSignature;
    }
    const final = this.#final;
    const living: LivingRows =
      final.ended === 'damaged'
        ? { part: undefined, records: new Map(), state: 'ended' }
        : readLivingRows(path, final.end, final.clock);
    const signature = `${finalSignature} ${living.state} ${living.part?.facts.to}`;
    if (this.#read === undefined || signature !== this.#signature) {
      this.#read = withLivingRows(final, living);
      this.#signature = signature;
    }
    return this.#read;
  }

  #readFinal(end: number): Promise<ReadSource> {
    const { leastCachedBytes, onProgress } = this.#keeping;
    if (end < leastCachedBytes) return Promise.resolve(readHeph(this.trace, end));
    const entry = this.#keeping.directory().entryOf(this.trace.path);
    return cachedSource(this.trace, entry, end, onProgress);
  }
}

function withLivingRows(final: ReadSource, { part, records, state }: LivingRows): ReadSource {
  // A record that is being written is no loss.
  const ended = state === 'growing' && final.ended === 'incomplete' ? 'end' : final.ended;
  if (part === undefined) return { ...final, ended, state, records };
  const parts = [...final.parts, inMemory(part)];
  return { ...final, parts, joins: joinSource(parts), ended: 'end', state, records };
}
