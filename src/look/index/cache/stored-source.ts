import { basename, join, resolve } from 'node:path';
import type { FoundTrace } from '../../../traces/find-traces.js';
import type { WalkEnd } from '../scan/heph-walk.js';
import { INDEX_FILE, newFileIn, replaceIndex, touch } from './cache-directory.js';
import { ColumnFile, DamagedIndex, writeColumns } from './column-file.js';
import type { Column } from './column-file.js';
import type { PartFacts } from '../parts/part-columns.js';
import { buildStretch } from '../parts/build-stretch.js';
import type { Stretch } from '../parts/build-stretch.js';
import type { ReadSource } from '../sources/read-source.js';
import { laneOfKey, trackOfKey } from '../parts/pyramid.js';
import type { Pyramid } from '../parts/pyramid.js';
import { joinSource } from '../sources/source-joins.js';
import type { SourceJoins } from '../sources/source-joins.js';
import { PartFile } from './stored-part.js';
import type { ClockState } from '../scan/trace-clock.js';
import { compare, identityOf } from './trace-identity.js';
import type { TraceIdentity } from './trace-identity.js';

/** A clock's state as JSON. */
type StoredClock = Omit<ClockState, 'epoch'> & { epoch: string | null };

/** A part as the index file names it. */
export interface PartEntry {
  file: string;
  facts: PartFacts;
  records: number;
  clock: StoredClock;
}

/** What the index file of a trace says. */
interface IndexFacts {
  path: string;
  identity: TraceIdentity;
  ended: WalkEnd;
  clock: StoredClock;
  parts: PartEntry[];
  tracks: SourceJoins['tracks'];
  laneCounts: number[];
  /** Exponents of the finest levels of the parts' pyramids; -1: it has none. */
  pyramids: number[];
}

export const storedClock = ({ epoch, shift, jumps }: ClockState): StoredClock => ({
  epoch: epoch === undefined ? null : String(epoch),
  shift,
  jumps,
});

export function clockOf({ epoch, shift, jumps }: StoredClock): ClockState {
  return { epoch: epoch === null ? undefined : BigInt(epoch), shift, jumps: [...jumps] };
}

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
    const facts = file.facts as IndexFacts;
    if (facts.path !== resolve(trace.path)) return undefined;
    const comparison = compare(trace.path, facts.identity);
    if (comparison === 'other') return undefined;
    checkParts(facts);
    const parts = openParts(entry, trace.path, facts.parts);
    touch(entry);
    return {
      facts,
      comparison,
      source: sourceOf(trace, facts, parts, storedJoins(file, facts, parts)),
    };
  } catch (error) {
    // What is not as it was written, whatever is wrong with it, is made anew.
    if (
      error instanceof DamagedIndex ||
      error instanceof TypeError ||
      error instanceof SyntaxError
    ) {
      return undefined;
    }
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function checkParts({ parts, identity }: IndexFacts): void {
  let end = 0;
  for (const { file, facts } of parts) {
    const { rows, from, to, notes } = facts;
    const isSafe = [rows, from, to].every((value) => Number.isSafeInteger(value) && value >= 0);
    if (!isSafe || from !== end || to < from || rows > to - from || basename(file) !== file) {
      throw new DamagedIndex(file);
    }
    if (notes.some((note) => !(note >= from && note < to))) throw new DamagedIndex(file);
    end = to;
  }
  if (end > identity.end) throw new DamagedIndex('parts');
}

export function openParts(entry: string, path: string, parts: readonly PartEntry[]): PartFile[] {
  return parts.map(({ file, facts, records, clock }) => {
    const stretch: Stretch = {
      path,
      from: facts.from,
      to: facts.to,
      records,
      clock: clockOf(clock),
    };
    return new PartFile(join(entry, file), facts, () => buildStretch(stretch));
  });
}

function sourceOf(
  trace: FoundTrace,
  { identity, ended, clock }: Pick<IndexFacts, 'identity' | 'ended' | 'clock'>,
  parts: PartFile[],
  joins: SourceJoins,
): ReadSource {
  return {
    trace,
    parts,
    joins,
    counters: [],
    losses: [],
    end: identity.end,
    clock: clockOf(clock),
    ended,
  };
}

/** Stores the index of a trace; its parts lie in the entry already. */
export function storeIndex(
  entry: string,
  trace: FoundTrace,
  entries: PartEntry[],
  read: { end: number; ended: WalkEnd; clock: ClockState },
): ReadSource {
  const parts = openParts(entry, trace.path, entries);
  const joins = joinSource(parts);
  const facts: IndexFacts = {
    path: resolve(trace.path),
    identity: identityOf(trace.path, read.end),
    ended: read.ended,
    clock: storedClock(read.clock),
    parts: entries,
    tracks: joins.tracks,
    laneCounts: joins.laneCounts,
    pyramids: entries.map((_, i) => joins.pyramid(i)?.first ?? -1),
  };
  const columns: Record<string, Column> = {};
  for (const i of parts.keys()) {
    columns[`lanes${i}`] = joins.lanes(i);
    columns[`parents${i}`] = joins.parents(i);
    const pyramid = joins.pyramid(i);
    if (pyramid === undefined) continue;
    for (const [name] of PYRAMID_COLUMNS) columns[`${name}${i}`] = pyramid[name];
  }
  const written = newFileIn(entry, INDEX_FILE);
  writeColumns(written, facts, columns);
  replaceIndex(
    entry,
    written,
    entries.map(({ file }) => file),
  );
  return sourceOf(
    trace,
    facts,
    parts,
    storedJoins(new ColumnFile(join(entry, INDEX_FILE)), facts, parts),
  );
}

/** Joins that are read when they are first used, and made anew if they are damaged. */
function storedJoins(
  file: ColumnFile,
  { tracks, laneCounts, parts, pyramids }: IndexFacts,
  stored: PartFile[],
): SourceJoins {
  let again: SourceJoins | undefined;
  const rows = parts.reduce((sum, { facts }) => sum + facts.rows, 0);
  for (const [i, { facts }] of parts.entries()) {
    if (file.lengthOf(`lanes${i}`, 'u16') !== facts.rows) throw new DamagedIndex('lanes');
    const first = pyramids[i];
    if (!Number.isInteger(first) || first! < -1 || first! > 62) throw new DamagedIndex('pyramid');
    if (first !== -1) {
      for (const [name, type] of PYRAMID_COLUMNS) {
        if (file.lengthOf(`${name}${i}`, type) === -1) throw new DamagedIndex('pyramid');
      }
    }
    if (file.lengthOf(`parents${i}`, 'i32') % 2 !== 0) throw new DamagedIndex('parents');
  }
  const most = laneCounts.reduce((sum, count) => Math.max(sum, count), 0);
  const readOr = <T extends Column>(
    name: string,
    isPlausible: (column: T) => boolean,
    other: (joins: SourceJoins) => T,
  ): T => {
    try {
      const column = file.column(name) as T;
      if (isPlausible(column)) return column;
    } catch (error) {
      if (!(error instanceof DamagedIndex)) throw error;
    }
    return other((again ??= joinSource(stored)));
  };
  return {
    tracks,
    laneCounts,
    lanes: (part) =>
      readOr<Uint16Array>(
        `lanes${part}`,
        (lanes) => lanes.every((lane) => lane < most),
        (joins) => joins.lanes(part),
      ),
    pyramid(part) {
      const first = pyramids[part]!;
      if (first === -1) return undefined;
      try {
        const pyramid = readPyramid(file, part, first);
        if (isPlausible(pyramid, parts[part]!.facts.rows, laneCounts)) return pyramid;
      } catch (error) {
        if (!(error instanceof DamagedIndex)) throw error;
      }
      return (again ??= joinSource(stored)).pyramid(part);
    },
    parents: (part) =>
      readOr<Int32Array>(
        `parents${part}`,
        (pairs) => pairs.every((row) => row >= 0 && row < rows),
        (joins) => joins.parents(part),
      ),
  };
}

const PYRAMID_COLUMNS = [
  ['ends', 'u32'],
  ['bucket', 'f64'],
  ['key', 'u32'],
  ['count', 'u32'],
  ['row', 'u32'],
  ['wide', 'u32'],
] as const;

function readPyramid(file: ColumnFile, part: number, first: number): Pyramid {
  const column = (name: string): Column => file.column(`${name}${part}`);
  return {
    first,
    ends: column('ends') as Uint32Array,
    bucket: column('bucket') as Float64Array,
    key: column('key') as Uint32Array,
    count: column('count') as Uint32Array,
    row: column('row') as Uint32Array,
    wide: column('wide') as Uint32Array,
  };
}

/** Whether all numbers of a pyramid lie where its readers take them to lie. */
function isPlausible(
  { ends, bucket, key, count, row, wide }: Pyramid,
  rows: number,
  laneCounts: readonly number[],
): boolean {
  const cells = bucket.length;
  return (
    ends.length > 0 &&
    ends.every((end, i) => end <= cells && (i === 0 || end >= ends[i - 1]!)) &&
    [key, count, row].every(({ length }) => length === cells) &&
    bucket.every((value) => Number.isFinite(value)) &&
    key.every((value) => laneOfKey(value) < (laneCounts[trackOfKey(value)] ?? 0)) &&
    row.every((value) => value < rows) &&
    wide.every((value) => value < rows)
  );
}
