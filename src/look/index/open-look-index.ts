import { rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TracewrightError } from '../../core/errors.js';
import { hasCode } from '../../core/files/system-error.js';
import { version } from '../../core/version.js';
import { hephFormat } from '../../spans/read/heph-format.js';
import { findTraces, type FoundTrace, type InputForm } from '../../traces/find-traces.js';
import { MappedRings } from '../../traces/mapped-rings.js';
import type { BuildProgress } from './build/build-source.js';
import { HephReading, type Keeping } from './build/heph-reading.js';
import { RowsReading } from './build/rows-reading.js';
import { CACHE_BYTES, CacheDirectory, defaultCache } from './cache/cache-directory.js';
import { KeptAnswers } from './cache/kept-answers.js';
import { CODE_FILE } from './cache/part-thread.js';
import type { LookIndex } from './look-index.js';
import { IndexedSources, type SourceReader } from './serve/indexed-sources.js';
import { type ReadSource, unreadSource, whileFilesVanish } from './sources/read-source.js';

/** Files below this size are read faster than their index. */
const LEAST_CACHED_BYTES = 4 << 20;

/** Options of `openLookIndex`. */
interface LookIndexOptions {
  /** Form of traces that do not say it themselves. */
  form?: InputForm | undefined;
  /**
   * The directory in which indexes are kept from one run to the next; unless set that of the user:
   * `$XDG_CACHE_HOME/tracewright`. false: none is kept.
   */
  cache?: string | false | undefined;
  /** Bytes of the cache at most: 4 GiB unless set. */
  cacheBytes?: number | undefined;
  /** Files below this size are not cached: 4 MiB unless set. */
  leastCachedBytes?: number | undefined;
  /** Directories with rings of dead processes, if they are not next to the traces. */
  ringDirs?: readonly string[] | undefined;
  /** Called now and then with the bytes that were read, and all that have to be. */
  onProgress?: BuildProgress | undefined;
}

/** Removes every index that is kept in a directory, or in that of the user. */
export function clearCache(directory: string = defaultCache()): void {
  const cache = new CacheDirectory(directory);
  cache.clear();
  cache.close();
}

/**
 * Reads the traces at some paths into one index. What an earlier run has indexed is not read again.
 *
 * @throws TracewrightError `ERR_SYSTEM` when a path cannot be read, `ERR_ARGUMENT_RANGE` when it contains
 *   no trace. Faults within a trace are losses of its source, and `unread` of the index.
 */
export async function openLookIndex(
  paths: readonly string[],
  options: LookIndexOptions = {},
): Promise<LookIndex> {
  const reader = new TracesReader(paths, options);
  try {
    return await whileFilesVanish(
      async (isLast) => new IndexedSources(await reader.read(isLast), reader),
    );
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** Reads the traces at paths, and those that appear there later. */
class TracesReader implements SourceReader, Keeping {
  readonly leastCachedBytes: number;
  readonly onProgress: BuildProgress | undefined;
  readonly ringDirs: readonly string[];
  faults: readonly TracewrightError[] = [];
  readonly #paths: readonly string[];
  readonly #options: LookIndexOptions;
  readonly #readings = new Map<string, TraceReading>();
  #directory: CacheDirectory | undefined;
  #live: string | undefined;
  #isPruned = false;

  constructor(paths: readonly string[], options: LookIndexOptions) {
    this.leastCachedBytes = options.leastCachedBytes ?? LEAST_CACHED_BYTES;
    this.onProgress = options.onProgress;
    this.ringDirs = options.ringDirs ?? [];
    this.#paths = paths;
    this.#options = options;
  }

  async read(isLast: boolean): Promise<ReadSource[]> {
    const found = new Set<string>();
    const faults: TracewrightError[] = [];
    const onFault = (fault: TracewrightError): void => {
      // What was deleted meanwhile is looked for again.
      if (!isLast && hasCode(fault, 'ENOENT')) throw fault;
      faults.push(fault);
    };
    for (const trace of findTraces(this.#paths, this.#options.form, { onFault })) {
      found.add(trace.path);
      if (!this.#readings.has(trace.path)) {
        this.#readings.set(trace.path, new TraceReading(trace, this));
      }
    }
    const read: ReadSource[] = [];
    const mapped = new MappedRings();
    for (const [path, reading] of this.#readings) {
      if (found.has(path)) read.push(await reading.read(mapped, isLast));
      else {
        reading.close();
        this.#readings.delete(path);
      }
    }
    if (!this.#isPruned) this.#directory?.prune(this.#options.cacheBytes ?? CACHE_BYTES);
    this.#isPruned = true;
    this.faults = faults;
    return read;
  }

  directory(): CacheDirectory {
    const { cache = defaultCache() } = this.#options;
    return (this.#directory ??= new CacheDirectory(cache === false ? undefined : cache));
  }

  liveDirectory(): string {
    return (this.#live ??= this.directory().newEntry());
  }

  answers(read: readonly ReadSource[], facts: string): KeptAnswers | undefined {
    const files = read.map(({ trace, end }) => ({ path: resolve(trace.path), end }));
    const bytes = files.reduce((sum, { end }) => sum + end, 0);
    const areHeph = read.every(({ trace }) => trace.format === hephFormat);
    const isKept = areHeph && bytes >= this.leastCachedBytes && this.#options.cache !== false;
    // Sources that are not built change without another version.
    if (!isKept || CODE_FILE === undefined) return undefined;
    const { size, mtimeMs } = statSync(CODE_FILE);
    return new KeptAnswers(this.directory(), files, [facts, version, `${size} ${mtimeMs}`]);
  }

  close(): void {
    for (const reading of this.#readings.values()) reading.close();
    if (this.#live !== undefined) rmSync(this.#live, { recursive: true, force: true });
    this.#directory?.close();
  }
}

/** How often a trace is looked for again of which a file is gone. */
const MOST_VANISHED = 2;

/** Reads a trace, and reads it again when it has changed. */
class TraceReading {
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
  async read(mapped: MappedRings, isLast: boolean): Promise<ReadSource> {
    try {
      const isHeph = this.trace.format === hephFormat;
      return await (isHeph ? this.#heph : this.#rows).read(mapped);
    } catch (error) {
      // A file that was deleted meanwhile is no source any more: the traces are looked for again.
      const isGone = hasCode(error, 'ENOENT');
      if (isGone && !isLast && this.#vanished++ < MOST_VANISHED) throw error;
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
