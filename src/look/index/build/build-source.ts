import { basename } from 'node:path';
import type { FoundTrace } from '../../../traces/find-traces.js';
import { nextTurn } from '../turns.js';
import { newFileIn } from '../cache/cache-directory.js';
import { type ReadEnd, stretchesOf } from '../parts/build-stretch.js';
import { SETTLED_ROWS } from '../parts/indexed-part.js';
import { PartWorkers } from './part-workers.js';
import type { ReadSource } from '../sources/read-source.js';
import { clockOf, storedClock } from '../cache/index-facts.js';
import type { NewPart, PartEntry } from '../cache/index-facts.js';
import { readStored, storeIndex } from '../cache/stored-source.js';
import type { StoredIndex } from '../cache/stored-source.js';

/** Called with the bytes that were read and all there are. */
export type BuildProgress = (done: number, total: number) => void;

/** The index of a Heph file up to `end`, from an entry of the cache; what is missing there is built. */
export async function cachedSource(
  trace: FoundTrace,
  entry: string,
  end: number,
  onProgress?: BuildProgress,
): Promise<ReadSource> {
  const stored = readStored(entry, trace);
  if (stored?.comparison === 'same') return stored.source;
  const kept = stored === undefined ? [] : keptParts(stored);
  const last = kept.at(-1);
  const begin = last?.facts.to ?? 0;
  const isWhole = stored !== undefined && kept.length === stored.facts.parts.length;
  const clock = isWhole ? stored.facts.clock : stored?.facts.parts[kept.length]?.clock;
  const workers = new PartWorkers();
  try {
    const built = await buildParts(
      workers,
      trace.path,
      entry,
      begin,
      end,
      clock && clockOf(clock),
      onProgress,
    );
    const parts = [...kept, ...built.parts];
    return await storeIndex(entry, trace, parts, kept.length, built, (task) => workers.shape(task));
  } finally {
    await workers.end();
  }
}

/** Without a last part that is small: many of those would make everything slow. */
function keptParts({ facts: { parts } }: StoredIndex): PartEntry[] {
  const last = parts.at(-1);
  return last !== undefined && last.facts.rows < SETTLED_ROWS ? parts.slice(0, -1) : [...parts];
}

/** Walks through a file from an offset on, and has its stretches built by worker threads. */
async function buildParts(
  workers: PartWorkers,
  path: string,
  entry: string,
  begin: number,
  size: number,
  state: ReturnType<typeof clockOf> | undefined,
  onProgress: BuildProgress | undefined,
): Promise<ReadEnd & { parts: NewPart[] }> {
  const parts: Promise<NewPart>[] = [];
  let done = begin;
  const stretches = stretchesOf(path, begin, size, state);
  let next = stretches.next();
  for (; next.done !== true; next = stretches.next()) {
    const stretch = next.value;
    const out = newFileIn(entry, 'part');
    const building = workers.build({ stretch, out }).then((facts) => {
      done += stretch.to - stretch.from;
      onProgress?.(done, size);
      const { records, clock } = stretch;
      return { file: basename(out), facts, records, clock: storedClock(clock) };
    });
    // The first failure is reported when all have been waited for.
    building.catch(() => undefined);
    parts.push(building);
    await nextTurn();
  }
  return { parts: await Promise.all(parts), ...next.value };
}
