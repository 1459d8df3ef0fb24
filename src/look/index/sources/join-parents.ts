import { IdTable } from '../scan/id-table.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { NO_TRACE } from '../look-index.js';

const MISSING_WORDS = 3;
const NONE = -1;
/** Ancestors through other parts that are looked at before a parent is believed. */
const MAX_STEPS = 1000;

/**
 * Finds parents that lie in other parts and other files.
 *
 * @returns for each part its rows and their parents' rows among all.
 */
export function joinParents(parts: readonly IndexedPart[]): Map<number, number>[] {
  const joined = parts.map(() => new Map<number, number>());
  const lists = parts.map(({ missing }) => missing);
  const count = lists.reduce((sum, list) => sum + list.length / MISSING_WORDS, 0);
  if (count === 0 || parts.length === 1) return joined;
  const wanted = new Uint32Array(2 * count);
  let next = 0;
  for (const list of lists) {
    for (let at = 0; at < list.length; at += MISSING_WORDS) {
      wanted[2 * next] = list[at + 1]!;
      wanted[2 * next++ + 1] = list[at + 2]!;
    }
  }
  const found = findRows(parts, new IdTable(wanted), count);
  for (const [i, list] of lists.entries()) {
    const part = parts[i]!;
    for (let at = 0; at < list.length; at += MISSING_WORDS) {
      const row = found(list[at + 1]!, list[at + 2]!);
      if (row === NONE) continue;
      const other = partAt(parts, row);
      if (!isSameTrace(part, list[at]!, other, row - other.firstRow)) continue;
      joined[i]!.set(list[at]!, row);
    }
  }
  cutCycles(parts, joined);
  return joined;
}

/** Looks for ids among all rows. */
function findRows(
  parts: readonly IndexedPart[],
  table: IdTable,
  count: number,
): (high: number, low: number) => number {
  const rows = new Int32Array(count).fill(NONE);
  for (const { spanId, firstRow } of parts) {
    for (let at = 0; at < spanId.length; at += 2) {
      const place = table.find(spanId[at]!, spanId[at + 1]!);
      if (place !== -1 && rows[place] === NONE) rows[place] = firstRow + at / 2;
    }
  }
  return (high, low) => rows[table.find(high, low)] ?? NONE;
}

function isSameTrace(one: IndexedPart, row: number, other: IndexedPart, otherRow: number): boolean {
  const trace = one.trace[row]!;
  const otherTrace = other.trace[otherRow]!;
  if (trace === NO_TRACE || otherTrace === NO_TRACE) return false;
  for (let i = 0; i < 4; i++) {
    if (one.traceIds[4 * trace + i] !== other.traceIds[4 * otherTrace + i]) return false;
  }
  return true;
}

export function partAt<Part extends { firstRow: number; count: number }>(
  parts: readonly Part[],
  row: number,
): Part {
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (parts[middle]!.firstRow <= row) low = middle;
    else high = middle - 1;
  }
  return parts[low]!;
}

/** A parent among whose ancestors the row itself is, or that has too many, counts as missing. */
function cutCycles(parts: readonly IndexedPart[], joined: readonly Map<number, number>[]): void {
  const indexOf = new Map(parts.map((part, i) => [part, i]));
  for (const [i, rows] of joined.entries()) {
    const { firstRow } = parts[i]!;
    for (const [row, parent] of rows) {
      let at = parent;
      let crossings = 0;
      while (at >= 0 && at !== row + firstRow && crossings < MAX_STEPS) {
        const part = partAt(parts, at);
        const own = at - part.firstRow;
        const across = joined[indexOf.get(part)!]!.get(own);
        if (across !== undefined) crossings++;
        const within = part.stored.column('parent')[own]!;
        at = across ?? (within >= 0 ? within + part.firstRow : within);
      }
      if (at >= 0) rows.delete(row);
    }
  }
}
