import { IdTable, TraceTable } from '../../../rows/id-table.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { MISSING_WORDS } from '../parts/part-columns.js';
import { NO_TRACE } from '../look-index.js';

const NONE = -1;

/**
 * Finds parents that lie in other parts and other files. Only rows of traces that several parts have are
 * looked at: those are few, as a rule.
 *
 * @returns for each part its rows and their parents' rows among all.
 */
export function joinParents(parts: readonly IndexedPart[]): Map<number, number>[] {
  const joined = parts.map(() => new Map<number, number>());
  const traces = sharedTraces(parts);
  if (traces === undefined) return joined;
  const lists = parts.map(({ missing }, i) => ofTraces(missing, parts[i]!.trace, traces[i]));
  const count = lists.reduce((sum, list) => sum + list.length / MISSING_WORDS, 0);
  const wanted = new Uint32Array(2 * count);
  let next = 0;
  for (const list of lists) {
    for (let at = 0; at < list.length; at += MISSING_WORDS) {
      wanted[2 * next] = list[at + 1]!;
      wanted[2 * next++ + 1] = list[at + 2]!;
    }
  }
  const table = new IdTable(wanted);
  table.fill();
  const rows = findRows(parts, traces, table, count);
  const indexOf = new Map(parts.map((part, i) => [part, i]));
  for (const [i, list] of lists.entries()) {
    for (let at = 0; at < list.length; at += MISSING_WORDS) {
      const row = rows[table.find(list[at + 1]!, list[at + 2]!)]!;
      if (row === NONE) continue;
      const other = partAt(parts, row);
      const otherTraces = traces[indexOf.get(other)!]!;
      const trace = traces[i]![parts[i]!.trace[list[at]!]!];
      if (otherTraces[other.trace[row - other.firstRow]!] !== trace) continue;
      joined[i]!.set(list[at]!, row);
    }
  }
  cutCycles(parts, joined, indexOf);
  return joined;
}

/**
 * For each part the numbers of its traces among those that several parts have and that lack a parent; 0 for
 * the others. Undefined for a part that has none of them, and if no part has any.
 */
function sharedTraces(parts: readonly IndexedPart[]): (Uint32Array | undefined)[] | undefined {
  if (parts.length === 1 || parts.every(({ missing }) => missing.length === 0)) return undefined;
  const table = new TraceTable();
  const numberOf = (ids: Uint32Array, trace: number): number => {
    const at = 4 * trace;
    return table.numberOf(ids[at]! | 0, ids[at + 1]! | 0, ids[at + 2]! | 0, ids[at + 3]! | 0);
  };
  for (const { missing, trace, traceIds } of parts) {
    let before = NO_TRACE;
    for (let at = 0; at < missing.length; at += MISSING_WORDS) {
      const own = trace[missing[at]!]!;
      if (own !== before && own !== NO_TRACE) numberOf(traceIds, own);
      before = own;
    }
  }
  const { count } = table;
  const holders = new Uint8Array(count);
  const numbers = parts.map(({ traceIds, traceCount }) =>
    Uint32Array.from({ length: traceCount }, (_, trace) => {
      const number = table.find(traceIds, 4 * trace);
      if (number !== -1 && holders[number]! < 2) holders[number]!++;
      return number + 1;
    }),
  );
  const shared = numbers.map((own) => {
    let hasOwn = false;
    for (let trace = 0; trace < own.length; trace++) {
      if (own[trace] === 0) continue;
      if (holders[own[trace]! - 1]! < 2) own[trace] = 0;
      else hasOwn = true;
    }
    return hasOwn ? own : undefined;
  });
  return shared.some((own) => own !== undefined) ? shared : undefined;
}

/** Selects missing parents of rows whose traces have a number. */
function ofTraces(
  missing: Uint32Array,
  trace: Uint32Array,
  numbers: Uint32Array | undefined,
): Uint32Array {
  if (numbers === undefined) return new Uint32Array(0);
  const kept = new Uint32Array(missing.length);
  let used = 0;
  for (let at = 0; at < missing.length; at += MISSING_WORDS) {
    const own = trace[missing[at]!]!;
    if (own === NO_TRACE || numbers[own] === 0) continue;
    kept[used++] = missing[at]!;
    kept[used++] = missing[at + 1]!;
    kept[used++] = missing[at + 2]!;
  }
  return kept.slice(0, used);
}

/** Looks for ids among the rows of numbered traces: the first row of each id, or NONE. */
function findRows(
  parts: readonly IndexedPart[],
  traces: readonly (Uint32Array | undefined)[],
  table: IdTable,
  count: number,
): Int32Array {
  const rows = new Int32Array(count).fill(NONE);
  for (const [i, { trace, stored, firstRow }] of parts.entries()) {
    const numbers = traces[i];
    if (numbers === undefined) continue;
    // Not kept: it is large, and few questions need it.
    const spanId = stored.column('spanId');
    for (let row = 0; row < trace.length; row++) {
      const own = trace[row]!;
      if (own === NO_TRACE || numbers[own] === 0) continue;
      const number = table.find(spanId[2 * row]!, spanId[2 * row + 1]!);
      if (number !== -1 && rows[number] === NONE) rows[number] = firstRow + row;
    }
  }
  return rows;
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

/** Cuts each cycle at a parent in another part, which counts as missing then. */
function cutCycles(
  parts: readonly IndexedPart[],
  joined: readonly Map<number, number>[],
  indexOf: ReadonlyMap<IndexedPart, number>,
): void {
  const ancestors = new Ancestors(parts, joined, indexOf);
  for (const [i, rows] of joined.entries()) {
    for (const row of rows.keys()) {
      for (const each of ancestors.cycleAbove(parts[i]!.firstRow + row)) {
        const [part, own] = ancestors.partOf(each);
        if (joined[part]!.delete(own)) break;
      }
    }
  }
}

const IN_WORK = 1;
const DONE = 2;

/** Goes from rows to their ancestors, through each row once. */
class Ancestors {
  readonly #parts: readonly IndexedPart[];
  readonly #joined: readonly ReadonlyMap<number, number>[];
  readonly #indexOf: ReadonlyMap<IndexedPart, number>;
  /** By part. A column is read once: it may lie in a file. */
  readonly #parents: Int32Array[] = [];
  readonly #states: Uint8Array[] = [];

  constructor(
    parts: readonly IndexedPart[],
    joined: readonly ReadonlyMap<number, number>[],
    indexOf: ReadonlyMap<IndexedPart, number>,
  ) {
    this.#parts = parts;
    this.#joined = joined;
    this.#indexOf = indexOf;
  }

  /** The rows of a cycle among a row and its ancestors; none if an earlier walk has found it. */
  cycleAbove(row: number): number[] {
    const path: number[] = [];
    let at = row;
    while (at >= 0) {
      const [part, own] = this.partOf(at);
      const states = (this.#states[part] ??= new Uint8Array(this.#parts[part]!.count));
      if (states[own] !== 0) {
        const isCycle = states[own] === IN_WORK;
        this.#finish(path);
        return isCycle ? path.slice(path.indexOf(at)) : [];
      }
      states[own] = IN_WORK;
      path.push(at);
      at = this.#parentOf(part, own);
    }
    this.#finish(path);
    return [];
  }

  /** The number of a row's part, and the row's number there. */
  partOf(row: number): readonly [part: number, row: number] {
    const part = partAt(this.#parts, row);
    return [this.#indexOf.get(part)!, row - part.firstRow];
  }

  #parentOf(part: number, own: number): number {
    const across = this.#joined[part]!.get(own);
    if (across !== undefined) return across;
    const { stored, firstRow } = this.#parts[part]!;
    const parent = (this.#parents[part] ??= stored.column('parent'))[own]!;
    return parent >= 0 ? parent + firstRow : parent;
  }

  #finish(path: readonly number[]): void {
    for (const row of path) {
      const [part, own] = this.partOf(row);
      this.#states[part]![own] = DONE;
    }
  }
}
