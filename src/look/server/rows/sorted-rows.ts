import type { LookIndex } from '../../index/look-index.js';
import type { Recording } from '../recording.js';
import { SortKeys } from './sort-keys.js';
import type { SortKey } from './sort-keys.js';
import { sortOrder } from './sort-order.js';

/** Orders that are kept for each set of rows. */
const KEPT = 2;

const kept = new WeakMap<Int32Array, Map<SortKey, Promise<Int32Array>>>();
const finished = new WeakMap<Promise<Int32Array>, Int32Array>();

/** What `sortedRows` gives, if it is known by now. */
export function knownOrder(rows: Int32Array, key: SortKey): Int32Array | undefined {
  const order = kept.get(rows)?.get(key);
  return order === undefined ? undefined : finished.get(order);
}

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
    const sorting = order;
    void sorting.then(
      (sorted) => finished.set(sorting, sorted),
      () => orders.delete(key),
    );
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

function keysOf(recording: Recording, rows: Int32Array, key: SortKey): Float64Array {
  const sortKeys = new SortKeys(recording, key);
  const keys = new Float64Array(rows.length);
  let at = 0;
  for (const part of recording.index.parts) {
    const { firstRow } = part;
    const end = firstRow + part.count;
    const { values, ranks } = sortKeys.column(part);
    for (; at < rows.length && rows[at]! < end; at++) {
      const value = values[rows[at]! - firstRow]!;
      keys[at] = ranks === undefined ? value : ranks[value]!;
    }
  }
  return keys;
}
