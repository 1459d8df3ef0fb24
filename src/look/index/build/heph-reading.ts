import { statSync, utimesSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ClockState, TraceClock } from '../../../spans/read/trace-clock.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { MappedRings } from '../../../traces/mapped-rings.js';
import { type CacheDirectory, newFileIn } from '../cache/cache-directory.js';
import { LivePart } from '../cache/stored-part.js';
import { compare, identityOf, type TraceIdentity } from '../cache/trace-identity.js';
import { buildStretch } from '../parts/build-stretch.js';
import { SETTLED_ROWS, type StoredPart } from '../parts/indexed-part.js';
import { inMemory, readHeph, type ReadSource, unreadable } from '../sources/read-source.js';
import { type BuildProgress, cachedSource } from './build-source.js';
import { finalEndOf, type LivingRows, readLivingRows } from './living-rows.js';
import { PartWorkers } from './part-workers.js';

/** Where the index of a trace is kept. */
export interface Keeping {
  leastCachedBytes: number;
  /** Further directories with rings. */
  ringDirs: readonly string[];
  directory(): CacheDirectory;
  /** A directory for this process alone, which is removed when the index is closed. */
  liveDirectory(): string;
  onProgress: BuildProgress | undefined;
}

/** Rows at the end of a growing trace that are read anew each time, about. */
const LAST_ROWS = 1 << 13;
/** A trace that has grown by more bytes since it was last read is indexed as at the beginning. */
const MOST_NEW_BYTES = 64 << 20;

/** Facts of the file that do not change any more. */
interface FinalRows {
  identity: TraceIdentity;
  reading: object;
  /** As it was opened. */
  opened: ReadSource;
  parts: StoredPart[];
  end: number;
  clock: ClockState;
}

/** Small parts of a growing trace that were built as a large one. */
interface SettledParts {
  reading: object;
  first: StoredPart;
  count: number;
  part: LivePart;
}

/**
 * Reads a Heph file, and what it has got since. The work of a reading is that of what is new. The file is
 * cut into parts of a few thousand rows, and those of 262,144 rows are built anew as one, in a worker thread.
 */
export class HephReading {
  readonly #trace: FoundTrace;
  readonly #keeping: Keeping;
  #ringDirs: readonly string[] = [];
  #final: FinalRows | undefined;
  #read: ReadSource | undefined;
  #stamp = '';
  #signature = '';
  #settled: SettledParts | undefined;
  #isSettling = false;
  #isClosed = false;
  #stored: LivePart[] = [];

  constructor(trace: FoundTrace, keeping: Keeping) {
    this.#trace = trace;
    this.#keeping = keeping;
  }

  /**
   * The same object as before if nothing has changed.
   *
   * @param mapped the rings of live processes.
   */
  async read(mapped: MappedRings): Promise<ReadSource> {
    const { path } = this.#trace;
    // A process does not move its rings: they are looked for once.
    if (this.#final === undefined) {
      this.#ringDirs = [...this.#keeping.ringDirs, ...mapped.directoriesOf(path)];
    }
    const { size, mtimeNs } = statSync(path, { bigint: true });
    const stamp = `${size} ${mtimeNs}`;
    // Nobody writes to it any more.
    if (this.#read?.state === 'ended' && stamp === this.#stamp) return this.#read;
    const isNew = stamp !== this.#stamp;
    let final = this.#final;
    if (final === undefined || (isNew && !isContinued(path, final, Number(size)))) {
      final = await this.#begin(Number(size));
    } else {
      this.#takeSettled(final);
    }
    this.#stamp = stamp;
    let living = this.#readLiving(final);
    if (living.isFaulty && isNew) {
      // What the file says up to there, and whether it is damaged.
      final = await this.#begin(Number(size));
      living = this.#readLiving(final);
    }
    const { parts, opened } = final;
    const { part, state, faults } = living;
    const signature = `${stamp} ${parts.length} ${state} ${part?.facts.to} ${faults.length} ${living.open}`;
    if (this.#read?.reading !== final.reading || signature !== this.#signature) {
      // What its joins are of, as far as it has not been built anew.
      const joined = opened.parts.findIndex((part, i) => part !== parts[i]);
      const { joins } = opened;
      const first = joined === -1 ? joins : { ...joins, shapes: joins.shapes.slice(0, joined) };
      const { end, clock } = final;
      const read = { ...opened, parts: [...parts], joins: first, end, clock };
      this.#read = withLivingRows(read, living);
      this.#signature = signature;
    }
    this.#read.readAt = living.readAt;
    return this.#read;
  }

  close(): void {
    this.#isClosed = true;
    this.#forgetStored();
  }

  /** Reads the file anew, as far as it is final. */
  async #begin(size: number): Promise<FinalRows> {
    this.#forgetStored();
    const { leastCachedBytes, onProgress } = this.#keeping;
    const { path } = this.#trace;
    const end = Math.min(finalEndOf(path, this.#ringDirs) ?? size, size);
    let opened: ReadSource;
    if (end < leastCachedBytes) {
      opened = readHeph(this.#trace, end);
    } else {
      const entry = this.#keeping.directory().entryOf([resolve(path)]);
      opened = await cachedSource(this.#trace, entry, end, onProgress);
    }
    const identity = identityOf(path, opened.end);
    const { reading, parts, clock } = opened;
    return (this.#final = {
      identity,
      reading,
      opened,
      parts: [...parts],
      end: opened.end,
      clock,
    });
  }

  /** Reads what comes after the final rows, and makes parts of what of it is final now. */
  #readLiving(final: FinalRows): LivingRows {
    const { path } = this.#trace;
    const living = this.#rowsAfter(final);
    const rows = living.part?.facts.rows ?? 0;
    if (rows < LAST_ROWS || living.settled <= final.end || living.state !== 'growing') {
      return living;
    }
    const clock = new TraceClock(final.clock);
    const stretch = {
      path,
      from: final.end,
      to: living.settled,
      records: rows,
      clock: clock.state,
    };
    const built = buildStretch(stretch, undefined, clock);
    if (built.facts.rows > 0) final.parts.push(inMemory(built, stretch));
    final.end = living.settled;
    final.clock = clock.state;
    final.identity = identityOf(path, final.end);
    this.#settle(final);
    return this.#rowsAfter(final);
  }

  #rowsAfter({ end, clock }: FinalRows): LivingRows {
    return readLivingRows(this.#trace.path, end, clock, this.#ringDirs);
  }

  /** Begins to build the last parts as one, if they have enough rows. */
  #settle({ parts, reading }: FinalRows): void {
    if (this.#isSettling || this.#settled !== undefined) return;
    const large = parts.findLastIndex((part) => part.isStored && part.facts.rows >= SETTLED_ROWS);
    const small = parts.slice(large + 1);
    const rows = small.reduce((sum, { facts }) => sum + facts.rows, 0);
    const [first] = small;
    if (rows < SETTLED_ROWS || first?.stretch === undefined) return;
    const stretch = { ...first.stretch, to: small.at(-1)!.facts.to, records: rows };
    const directory = this.#keeping.liveDirectory();
    const out = newFileIn(directory, 'part');
    const workers = new PartWorkers();
    this.#isSettling = true;
    workers
      .build({ stretch, out })
      .then((facts) => {
        const part = new LivePart(out, facts, stretch);
        if (this.#isClosed) part.remove();
        else this.#settled = { reading, first, count: small.length, part };
        // Another process removes directories that were not used for long.
        utimesSync(directory, new Date(), new Date());
      })
      // The small parts remain, and it is tried again.
      .catch(() => undefined)
      .finally(() => {
        this.#isSettling = false;
        return workers.end();
      });
  }

  #takeSettled({ reading, parts }: FinalRows): void {
    const settled = this.#settled;
    if (settled === undefined) return;
    this.#settled = undefined;
    const at = parts.indexOf(settled.first);
    if (settled.reading !== reading || at === -1) {
      settled.part.remove();
      return;
    }
    parts.splice(at, settled.count, settled.part);
    this.#stored.push(settled.part);
  }

  #forgetStored(): void {
    for (const part of this.#stored) part.remove();
    this.#stored = [];
    this.#settled?.part.remove();
    this.#settled = undefined;
  }
}

/** Whether a file is the one that was read, and has only grown, not by too much. */
function isContinued(path: string, { identity, end }: FinalRows, size: number): boolean {
  return size - end <= MOST_NEW_BYTES && compare(path, identity) !== 'other';
}

function withLivingRows(read: ReadSource, living: LivingRows): ReadSource {
  const { part, records, state, faults } = living;
  const final = { ...read, losses: [...read.losses, ...faults.map(unreadable)] };
  // A record that is being written is no loss.
  const ended = state === 'growing' && final.ended === 'incomplete' ? 'end' : final.ended;
  if (part === undefined) return { ...final, ended, state, records };
  return { ...final, parts: [...final.parts, inMemory(part)], ended: 'end', state, records };
}
