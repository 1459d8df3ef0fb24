import { entryOf } from '../../core/map-entries.js';
import type { IndexPart, LaneFold, LookIndex } from '../index/look-index.js';
import { firstAtLeast } from '../index/parts/first-at-least.js';
import { isFolded } from '../index/serve/lane-pixels.js';
import { kindOfSpan } from '../report/names/interruption-kinds.js';

/** A stall, or some that lie close to each other: then the row is the longest. */
interface FoldedStall {
  track: number;
  start: number;
  end: number;
  row: number;
  count: number;
  /** Of the row, in ns. */
  duration: number;
}

/** Stalls with less between them are one, in pixels. */
const LEAST_GAP = 2;

/** Few rows are stalls: they are looked for once. */
const stallsOfParts = new WeakMap<IndexPart, readonly number[]>();

/**
 * The stalls of a window in lanes that are folded, by track and start: a merged box has the name of the longest row,
 * so it would hide them.
 *
 * @param pixel in ns.
 */
export function foldedStalls(
  index: LookIndex,
  {
    from,
    to,
    tracks,
    fold,
  }: { from: number; to: number; tracks: readonly number[]; fold: LaneFold },
  pixel: number,
): FoldedStall[] {
  const folded = new Set(
    tracks.filter((track) => isFolded(fold, track, index.tracks[track]!.lanes)),
  );
  if (folded.size === 0) return [];
  /** By track and pixel. */
  const found = new Map<string, FoldedStall>();
  for (const part of index.parts) {
    const { offset, firstStart, lastEnd, firstRow } = part;
    if (part.count === 0 || firstStart + offset >= to || lastEnd + offset < from) continue;
    for (const at of stallsOf(part)) {
      const start = part.start[at]! + offset;
      if (start >= to) break;
      const duration = part.duration[at]!;
      const track = part.track[at]!;
      if (start + duration <= from || part.lane[at]! < fold.lanes || !folded.has(track)) continue;
      const stall = { track, start, end: start + duration, row: firstRow + at, count: 1, duration };
      const key = `${track} ${Math.floor((start - from) / pixel)}`;
      const known = found.get(key);
      found.set(key, known === undefined ? stall : merged(known, stall));
    }
  }
  const sorted = [...found.values()].sort((a, b) => a.track - b.track || a.start - b.start);
  const apart: FoldedStall[] = [];
  for (const stall of sorted) {
    const last = apart.at(-1);
    if (last?.track === stall.track && stall.start - last.end < LEAST_GAP * pixel) {
      apart[apart.length - 1] = merged(last, stall);
    } else apart.push(stall);
  }
  return apart;
}

function merged(one: FoldedStall, other: FoldedStall): FoldedStall {
  const longest = other.duration > one.duration ? other : one;
  return {
    ...longest,
    start: Math.min(one.start, other.start),
    end: Math.max(one.end, other.end),
    count: one.count + other.count,
  };
}

/** Whether a row of a part, as its number in the part, is a stall. */
export function isStall(part: IndexPart, at: number): boolean {
  const stalls = stallsOf(part);
  return stalls[firstAtLeast(stalls, at)] === at;
}

/** Its rows that are stalls, as numbers in the part. */
export function stallsOf(part: IndexPart): readonly number[] {
  return entryOf(stallsOfParts, part, () => findStalls(part));
}

function findStalls(part: IndexPart): number[] {
  const { names } = part;
  let number = 0;
  while (number < names.count && kindOfSpan(names.text(number)) !== 'stall') number++;
  if (number === names.count) return [];
  const { name } = part;
  const found: number[] = [];
  for (let at = name.indexOf(number); at !== -1; at = name.indexOf(number, at + 1)) found.push(at);
  return found;
}
