import { STATUS_MASK, STATUS_SHIFT } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import type { Recording } from '../recording.js';
import { sortOrder } from './sort-order.js';

export const SORT_KEYS = ['start', 'duration', 'name', 'service', 'status'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** Orders that are kept for each set of rows. */
const KEPT = 2;

const kept = new WeakMap<Int32Array, Map<SortKey, Promise<Int32Array>>>();

/** Rows ascending by a key; those of one key by their start. */
export function sortedRows(
  recording: Recording,
  rows: Int32Array,
  key: SortKey,
): Promise<Int32Array> {
  const orders = kept.get(rows) ?? new Map<SortKey, Promise<Int32Array>>();
  kept.set(rows, orders);
  let order = orders.get(key);
  if (order === undefined) {
    order = sort(recording, rows, key);
    orders.set(key, order);
    for (const old of orders.keys()) {
      if (orders.size <= KEPT) break;
      orders.delete(old);
    }
  }
  return order;
}

async function sort(recording: Recording, rows: Int32Array, key: SortKey): Promise<Int32Array> {
  if (key === 'start') return mergeByStart(recording.index, rows);
  const keys = keysOf(recording, rows, key);
  const order = await sortOrder(keys);
  const sorted = new Int32Array(rows.length);
  for (let at = 0; at < rows.length; at++) sorted[at] = rows[order[at]!]!;
  return sorted;
}

/** The rows of a part are ordered by start already, so parts are merged, two and two. */
function mergeByStart({ parts }: LookIndex, rows: Int32Array): Int32Array {
  let runs: Int32Array[] = [];
  const starts = new Map<Int32Array, Float64Array>();
  let first = 0;
  for (const { firstRow, count, start, offset } of parts) {
    let end = first;
    while (end < rows.length && rows[end]! < firstRow + count) end++;
    const run = rows.subarray(first, end);
    runs.push(run);
    if (parts.length > 1) {
      starts.set(
        run,
        Float64Array.from(run, (row) => start[row - firstRow]! + offset),
      );
    }
    first = end;
  }
  while (runs.length > 1) {
    const merged: Int32Array[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at]!, runs[at + 1]];
      merged.push(right === undefined ? left : mergeTwo(left, right, starts));
    }
    runs = merged;
  }
  return runs[0] ?? rows;
}

/** Merges two runs, and their starts with them. */
function mergeTwo(
  left: Int32Array,
  right: Int32Array,
  starts: Map<Int32Array, Float64Array>,
): Int32Array {
  const [leftStarts, rightStarts] = [starts.get(left)!, starts.get(right)!];
  const merged = new Int32Array(left.length + right.length);
  const mergedStarts = new Float64Array(merged.length);
  for (let at = 0, a = 0, b = 0; at < merged.length; at++) {
    const isLeft = b === right.length || (a < left.length && leftStarts[a]! <= rightStarts[b]!);
    mergedStarts[at] = isLeft ? leftStarts[a]! : rightStarts[b]!;
    merged[at] = isLeft ? left[a++]! : right[b++]!;
  }
  starts.delete(left);
  starts.delete(right);
  starts.set(merged, mergedStarts);
  return merged;
}

function keysOf(
  recording: Recording,
  rows: Int32Array,
  key: Exclude<SortKey, 'start'>,
): Float64Array {
  const keys = new Float64Array(rows.length);
  const rank = key === 'name' || key === 'service' ? textRanks(recording, key) : undefined;
  let at = 0;
  for (const part of recording.index.parts) {
    const value = valueOf(part, key, rank);
    const end = part.firstRow + part.count;
    for (; at < rows.length && rows[at]! < end; at++) keys[at] = value(rows[at]! - part.firstRow);
  }
  return keys;
}

function valueOf(
  part: IndexPart,
  key: Exclude<SortKey, 'start'>,
  rank: ((part: IndexPart) => ArrayLike<number>) | undefined,
): (at: number) => number {
  const { duration, flags, name } = part;
  switch (key) {
    case 'duration':
      return (at) => duration[at]!;
    case 'status':
      return (at) => (flags[at]! >> STATUS_SHIFT) & STATUS_MASK;
    case 'name': {
      const ranks = rank!(part);
      return (at) => ranks[name[at]!]!;
    }
    case 'service': {
      const ranks = rank!(part);
      return () => ranks[0]!;
    }
  }
}

/** The place of each text of a part among all texts in alphabetical order. */
function textRanks(
  { index }: Recording,
  key: 'name' | 'service',
): (part: IndexPart) => ArrayLike<number> {
  const textsOf = ({ names, source }: IndexPart): string[] =>
    key === 'service'
      ? [source.service ?? source.path]
      : Array.from({ length: names.count }, (_, number) => names.text(number));
  const all = new Set<string>();
  for (const part of index.parts) for (const text of textsOf(part)) all.add(text);
  const ranks = new Map([...all].sort().map((text, place) => [text, place]));
  return (part) => Float64Array.from(textsOf(part), (text) => ranks.get(text)!);
}
