import { basename } from 'node:path';
import {
  isBoolean,
  isCount,
  isNumber,
  isText,
  listOf,
  objectOf,
  oneOf,
} from '../../../core/files/untrusted-json.js';
import type { Check } from '../../../core/files/untrusted-json.js';
import type { PartTrack } from '../../../rows/row-batch.js';
import type { WalkEnd } from '../../../spans/read/scan/heph-walk.js';
import type { ClockState } from '../../../spans/read/trace-clock.js';
import type { PartFacts } from '../parts/part-columns.js';
import { trackKey } from '../sources/source-joins.js';
import { DamagedIndex } from './column-file.js';
import type { TraceIdentity } from './trace-identity.js';

/** A clock's state as JSON. */
interface StoredClock {
  first: string | null;
  epoch: string;
  steps: { from: string; offset: string }[];
}

/** A part as the index file names it. */
export interface PartEntry {
  file: string;
  /** The file of its `PartShape`. */
  shape: string;
  facts: PartFacts;
  records: number;
  clock: StoredClock;
}

/** A part that has no shape yet. */
export type NewPart = Omit<PartEntry, 'shape'>;

/** The content of the index file of a trace. */
export interface IndexFacts {
  path: string;
  identity: TraceIdentity;
  ended: WalkEnd;
  clock: StoredClock;
  parts: PartEntry[];
  tracks: PartTrack[];
  laneCounts: number[];
}

export const storedClock = ({ first, epoch, steps }: ClockState): StoredClock => ({
  first: first === undefined ? null : String(first),
  epoch: String(epoch),
  steps: steps.map(({ from, offset }) => ({ from: String(from), offset: String(offset) })),
});

export const clockOf = ({ first, epoch, steps }: StoredClock): ClockState => ({
  first: first === null ? undefined : BigInt(first),
  epoch: BigInt(epoch),
  steps: steps.map(({ from, offset }) => ({ from: BigInt(from), offset: BigInt(offset) })),
});

/** Lanes of a track have numbers of 16 bits. */
const MOST_LANES = 1 << 16;

const isFileName: Check = (value) => typeof value === 'string' && basename(value) === value;
const isInteger: Check = (value) => typeof value === 'string' && /^-?\d{1,20}$/.test(value);

const isClock = objectOf({
  first: (value) => value === null || isInteger(value),
  epoch: isInteger,
  steps: listOf(objectOf({ from: isInteger, offset: isInteger })),
});

const areTracks = listOf(
  objectOf({
    kind: oneOf('thread', 'rank', 'states', 'mark', 'kernel'),
    name: isText,
    thread: isNumber,
  }),
);

const arePartFacts = objectOf({
  rows: isCount,
  from: isCount,
  to: isCount,
  tracks: areTracks,
  counts: listOf(objectOf({ stream: isCount, first: isCount, last: isCount, missing: isCount })),
  notes: listOf(isCount),
  faulty: isCount,
  firstFaulty: isCount,
  unfinished: isCount,
  hasCycles: isBoolean,
  firstStart: isNumber,
  lastEnd: isNumber,
  firstEnd: isNumber,
});

const areIndexFacts = objectOf({
  path: isText,
  identity: objectOf({
    inode: isText,
    born: isText,
    size: isCount,
    modified: isText,
    end: isCount,
    headHash: isText,
    endHash: isText,
  }),
  ended: oneOf('end', 'incomplete', 'damaged'),
  clock: isClock,
  parts: listOf(
    objectOf({
      file: isFileName,
      shape: isFileName,
      facts: arePartFacts,
      records: isCount,
      clock: isClock,
    }),
  ),
  tracks: areTracks,
  laneCounts: listOf((value) => isCount(value) && (value as number) <= MOST_LANES),
});

/** @throws DamagedIndex unless a value is what an index file says, and its parts agree with each other. */
export function checkedFacts(value: unknown): IndexFacts {
  if (!areIndexFacts(value)) throw new DamagedIndex('facts');
  const facts = value as IndexFacts;
  const { parts, tracks, laneCounts, identity } = facts;
  if (laneCounts.length !== tracks.length) throw new DamagedIndex('lanes');
  const known = new Set(tracks.map(trackKey));
  let end = 0;
  for (const { file, facts: own, records } of parts) {
    const { rows, from, to, notes } = own;
    if (
      from !== end ||
      to < from ||
      Math.max(rows, records) > to - from ||
      notes.some((note) => note < from || note >= to) ||
      own.tracks.some((track) => !known.has(trackKey(track)))
    ) {
      throw new DamagedIndex(file);
    }
    end = to;
  }
  if (end > identity.end) throw new DamagedIndex('parts');
  return facts;
}
