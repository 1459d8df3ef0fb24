import { rowsByPart } from '../../index/parts/order-rows.js';
import type { Recording } from '../recording.js';
import { SortKeys } from './sort-keys.js';
import type { KeyColumn, SortKey } from './sort-keys.js';
import { inPieces, Turns } from '../../index/turns.js';
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
  const keys = await keysOf(recording, rows, key);
  const order = await sortOrder(keys);
  const sorted = new Int32Array(rows.length);
  for await (const [first, end] of inPieces(0, rows.length)) {
    for (let at = first; at < end; at++) sorted[at] = rows[order[at]!]!;
  }
  return sorted;
}

async function keysOf(recording: Recording, rows: Int32Array, key: SortKey): Promise<Float64Array> {
  const sortKeys = new SortKeys(recording, key);
  const keys = new Float64Array(rows.length);
  const turns = new Turns();
  const { parts } = recording.index;
  // No key may be negative.
  const least = parts.reduce(
    (time, { firstStart, offset }) => Math.min(time, firstStart + offset),
    0,
  );
  for (const { part, firstRow, from, to } of rowsByPart(parts, rows)) {
    const column = sortKeys.column(part);
    for await (const [first, end] of inPieces(from, to, turns)) {
      addKeys(keys, rows, firstRow, least, column, first, end);
    }
  }
  return keys;
}

function addKeys(
  keys: Float64Array,
  rows: Int32Array,
  firstRow: number,
  least: number,
  { values, offset, ranks }: KeyColumn,
  first: number,
  end: number,
): void {
  for (let at = first; at < end; at++) {
    const value = values[rows[at]! - firstRow]!;
    keys[at] = ranks === undefined ? value + offset - least : ranks[value]!;
  }
}
