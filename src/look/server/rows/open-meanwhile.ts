import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { isInterruption } from '../../report/names/interruption-kinds.js';
import { rowName } from '../../report/names/row-name.js';
import { threadKeys } from '../../report/recording/processes.js';
import type { RowAnswer } from '../../wire/answers.js';

/** Rows that the page can list. */
const MOST = 100;
/** Spans of less than this share of the row are too many to consider. */
const LEAST_SHARE = 1 / 64;
/** Spans that were open for this share of the row may be its cause. */
const CAUSE_SHARE = 0.5;

interface Candidate {
  row: number;
  start: number;
  end: number;
  /** Of the row's time, from 0 to 1. */
  share: number;
}

/**
 * Spans of a row's thread that were open during the row. Of those that were open for half of it, the innermost
 * comes first: the one that began last. Code that blocks a loop runs in the request that has just begun, as a
 * rule, and others only wait. The rest follows by the time that it has in common with the row.
 */
export function openMeanwhile(index: LookIndex, row: number): RowAnswer['openMeanwhile'] {
  const { start: from, end: to, track } = rowAt(index, row);
  if (to <= from) return { count: 0, rows: [] };
  const keys = threadKeys(index);
  const key = keys[track];
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
    const { start, end, isInstant, name } = rowAt(index, each);
    const common = Math.min(to, end) - Math.max(from, start);
    if (common < LEAST_SHARE * (to - from) || isInstant || isInterruption(name)) continue;
    candidates.push({ row: each, start, end, share: common / (to - from) });
  }
  candidates.sort(bySuspicion);
  const shown = candidates.slice(0, MOST).map(({ row: each, start, end }) => ({
    row: each,
    start,
    duration: end - start,
    name: rowName(index, each),
  }));
  return { count: candidates.length, rows: shown };
}

function bySuspicion(a: Candidate, b: Candidate): number {
  const [first, second] = [a.share >= CAUSE_SHARE, b.share >= CAUSE_SHARE];
  if (first !== second) return first ? -1 : 1;
  if (first) return b.start - a.start || a.end - b.end;
  return b.share - a.share || b.start - a.start;
}
