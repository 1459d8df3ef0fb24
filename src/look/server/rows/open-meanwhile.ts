import { INSTANT_BIT } from '../../index/look-index.js';
import type { LookIndex } from '../../index/look-index.js';
import { isInterruption } from '../../report/interruptions.js';
import { nameWithPath } from '../../report/request-name.js';
import { requestPath } from '../../report/request-path.js';
import { threadKeys } from '../../report/thread-names.js';
import type { NamedRow } from '../../wire/answers.js';

const MOST = 3;
/** Spans of less than this share of the row are too many to consider. */
const LEAST_SHARE = 1 / 64;

interface Candidate {
  row: number;
  start: number;
  end: number;
  /** Time that the row and the span have in common, by the time of either. */
  likeness: number;
}

/**
 * Spans of a row's thread that were open during the row: first those that began and ended as it did. So the
 * request whose code blocked the loop comes before a connection that is open all day.
 */
export function openMeanwhile(index: LookIndex, row: number): NamedRow[] {
  const { start: from, end: to } = timesOf(index, row);
  if (to <= from) return [];
  const keys = threadKeys(index);
  const own = index.partOf(row);
  const key = keys[own.track[row - own.firstRow]!];
  const tracks = index.tracks
    .filter(({ number, kind }) => kind === 'thread' && keys[number] === key)
    .map(({ number }) => number);
  const rows = new Set(
    index
      .windows(from, to, 1 / LEAST_SHARE, tracks)
      .flatMap((window) => [...window.rows, ...window.merged.row]),
  );
  const candidates: Candidate[] = [];
  for (const each of rows) {
    const { start, end } = timesOf(index, each);
    const common = Math.min(to, end) - Math.max(from, start);
    if (common < LEAST_SHARE * (to - from) || !isOrdinarySpan(index, each)) continue;
    const either = Math.max(to, end) - Math.min(from, start);
    candidates.push({ row: each, start, end, likeness: common / either });
  }
  candidates.sort((a, b) => b.likeness - a.likeness);
  return candidates.slice(0, MOST).map(({ row: each, start, end }) => ({
    row: each,
    start,
    duration: end - start,
    name: nameWithPath({ name: nameOf(index, each), path: requestPath(index, each) }),
  }));
}

function timesOf(index: LookIndex, row: number): { start: number; end: number } {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const start = part.start[at]! + part.offset;
  return { start, end: start + part.duration[at]! };
}

function nameOf(index: LookIndex, row: number): string {
  const part = index.partOf(row);
  return part.names.text(part.name[row - part.firstRow]!);
}

function isOrdinarySpan(index: LookIndex, row: number): boolean {
  const part = index.partOf(row);
  if ((part.flags[row - part.firstRow]! & INSTANT_BIT) !== 0) return false;
  return !isInterruption(nameOf(index, row));
}
