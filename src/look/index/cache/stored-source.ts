import { basename, join, resolve } from 'node:path';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { ReadEnd, Stretch } from '../parts/build-stretch.js';
import { ColumnMemory } from '../parts/column-memory.js';
import type { ColumnName } from '../parts/part-columns.js';
import type { PartShape } from '../parts/pyramid.js';
import type { Lanes } from '../sources/lanes.js';
import { dealLanes } from '../sources/deal-lanes.js';
import type { LaneColumns } from '../sources/deal-lanes.js';
import { type ReadSource, sourceWith } from '../sources/read-source.js';
import {
  joinSource,
  laneCountsOf,
  lanePart,
  parentPairs,
  TrackNumbers,
} from '../sources/source-joins.js';
import type { SourceJoins } from '../sources/source-joins.js';
import { INDEX_FILE, newFileIn, replaceIndex, touch } from './cache-directory.js';
import { ColumnFile, DamagedIndex, writeColumns } from './column-file.js';
import type { Column } from '../../wire/columns.js';
import { checkedFacts, clockOf, storedClock } from './index-facts.js';
import type { IndexFacts, NewPart } from './index-facts.js';
import type { ShapeTask } from './part-thread.js';
import { PartFile } from './stored-part.js';
import { ShapeFile } from './stored-shape.js';
import { compare, identityOf } from './trace-identity.js';

/** The index of a trace that an earlier run has stored. */
export interface StoredIndex {
  facts: IndexFacts;
  /** `other`: it is of no use. */
  comparison: 'same' | 'grown';
  source: ReadSource;
}

/** Reads what is stored of a trace; undefined: nothing, something damaged, or that of another file. */
export function readStored(entry: string, trace: FoundTrace): StoredIndex | undefined {
  try {
    const file = new ColumnFile(join(entry, INDEX_FILE));
    const facts = checkedFacts(file.facts);
    if (facts.path !== resolve(trace.path)) return undefined;
    const comparison = compare(trace.path, facts.identity);
    if (comparison === 'other') return undefined;
    const parts = openParts(entry, trace.path, facts.parts);
    touch(entry);
    return {
      facts,
      comparison,
      source: sourceOf(trace, facts, parts, storedJoins(entry, file, facts, parts)),
    };
  } catch (error) {
    if (error instanceof DamagedIndex) return undefined;
    throw error;
  }
}

function openParts(entry: string, path: string, parts: readonly NewPart[]): PartFile[] {
  return parts.map(({ file, facts, records, clock }) => {
    const stretch: Stretch = {
      path,
      from: facts.from,
      to: facts.to,
      records,
      clock: clockOf(clock),
    };
    return new PartFile(join(entry, file), facts, stretch);
  });
}

function sourceOf(
  trace: FoundTrace,
  { identity, ended, clock }: Pick<IndexFacts, 'identity' | 'ended' | 'clock'>,
  parts: PartFile[],
  joins: SourceJoins,
): ReadSource {
  return sourceWith(trace, { parts, joins, end: identity.end, clock: clockOf(clock), ended });
}

/** Parts whose shapes are made while further rows are given to lanes. */
const MOST_WAITING = 3;

/**
 * Stores the index of a trace; its parts lie in the entry already.
 *
 * @param kept parts that another process may have written: the first ones.
 * @param shape writes the shape of a part.
 */
export async function storeIndex(
  entry: string,
  trace: FoundTrace,
  entries: readonly NewPart[],
  kept: number,
  read: ReadEnd,
  shape: (task: ShapeTask) => Promise<void>,
): Promise<ReadSource> {
  const parts = openParts(entry, trace.path, entries);
  const known = new TrackNumbers();
  const numbers = parts.map(({ facts }) => known.of(facts.tracks));
  const { tracks } = known;
  const parents = parentPairs(parts, numbers);
  const memory = new Map<number, ColumnMemory>();
  const unused: ColumnMemory[] = [];
  const rows = parts.map((part, i) =>
    lanePart(part, numbers[i]!, () => {
      const own = unused.pop() ?? new ColumnMemory(true);
      memory.set(i, own);
      return sharedColumns(part, own, i >= kept);
    }),
  );
  const lanes = new Map<number, Lanes>();
  const shapes: string[] = [];
  const writing = new Set<Promise<void>>();
  for (const { number, start, duration, track, lane, flags } of dealLanes(rows, lanes)) {
    const out = newFileIn(entry, 'shape');
    shapes[number] = basename(out);
    const task = { out, rows: { start, duration, track, lane, flags }, numbers: numbers[number]! };
    const written = shape(task).then(() => {
      unused.push(memory.get(number)!);
      writing.delete(written);
    });
    writing.add(written);
    if (writing.size > MOST_WAITING) await Promise.race(writing);
  }
  await Promise.all(writing);
  const facts: IndexFacts = {
    path: resolve(trace.path),
    identity: identityOf(trace.path, read.end),
    ended: read.ended,
    clock: storedClock(read.clock),
    parts: entries.map((each, i) => ({ ...each, shape: shapes[i]! })),
    tracks,
    laneCounts: laneCountsOf(tracks, lanes),
  };
  const index = newFileIn(entry, INDEX_FILE);
  writeColumns(index, facts, Object.fromEntries(parents.map((rows, i) => [`parents${i}`, rows])));
  replaceIndex(entry, index, [...entries.map(({ file }) => file), ...shapes]);
  const file = new ColumnFile(join(entry, INDEX_FILE));
  return sourceOf(trace, facts, parts, storedJoins(entry, file, facts, parts));
}

/** Copies the columns for `dealLanes` to memory that threads share. */
function sharedColumns(part: PartFile, memory: ColumnMemory, isFresh: boolean): LaneColumns {
  const { rows } = part.facts;
  const read = <T extends Column>(name: ColumnName, to: T): T => {
    if (isFresh) part.copyColumn(name, to);
    else to.set(part.column(name));
    return to;
  };
  return {
    start: read('start', memory.doubles('start', rows)),
    duration: read('duration', memory.doubles('duration', rows)),
    track: read('track', memory.words('track', rows)),
    parent: read('parent', memory.integers('parent', rows)),
    flags: read('flags', memory.bytes('flags', rows)),
    lane: memory.halves('lane', rows),
  };
}

/** Joins that are read when they are first used, and made anew if they are damaged. */
function storedJoins(
  entry: string,
  file: ColumnFile,
  { tracks, laneCounts, parts }: IndexFacts,
  stored: PartFile[],
): SourceJoins {
  let again: SourceJoins | undefined;
  const joins = (): SourceJoins => (again ??= joinSource(stored));
  const rows = parts.reduce((sum, { facts }) => sum + facts.rows, 0);
  const shapes: PartShape[] = parts.map(({ shape, facts }, i) => {
    const pairs = file.lengthOf(`parents${i}`, 'i32');
    if (pairs === -1 || pairs % 2 !== 0) throw new DamagedIndex('parents');
    return new ShapeFile(join(entry, shape), facts.rows, laneCounts, () => joins().shapes[i]!);
  });
  return {
    tracks,
    laneCounts,
    shapes,
    parents(part) {
      try {
        const pairs = file.column(`parents${part}`) as Int32Array;
        if (pairs.every((row) => row >= 0 && row < rows)) return pairs;
      } catch (error) {
        if (!(error instanceof DamagedIndex)) throw error;
      }
      return undefined;
    },
  };
}
