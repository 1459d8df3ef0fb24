import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { rowsByPart } from '../../index/parts/order-rows.js';
import { inPieces, Turns } from '../../index/turns.js';
import type { Recording } from '../recording.js';
import { SortKeys } from './sort-keys.js';
import type { KeyColumn, SortKey } from './sort-keys.js';

const DIGIT = 1 << 16;

/**
 * The numbers of keys in ascending order; equal ones keep their order. A radix sort of the bits, which have
 * the order of the numbers as long as none is negative.
 *
 * @param keys at least 0 each, not NaN.
 */
export async function sortOrder(keys: Float64Array): Promise<Uint32Array> {
  const { length } = keys;
  const halves = new Uint16Array(keys.buffer, keys.byteOffset, 4 * length);
  let order = new Uint32Array(length);
  for await (const [first, end] of inPieces(0, length)) {
    for (let at = first; at < end; at++) order[at] = at;
  }
  let spare = new Uint32Array(length);
  for (let digit = 0; digit < 4; digit++) {
    const counts = new Uint32Array(DIGIT);
    for await (const [first, end] of inPieces(0, length)) {
      count(halves, digit, counts, first, end);
    }
    // Times are integers: the last digits of most are zero.
    if (counts.includes(length)) continue;
    let sum = 0;
    for (let value = 0; value < DIGIT; value++) {
      const own = counts[value]!;
      counts[value] = sum;
      sum += own;
    }
    for await (const [first, end] of inPieces(0, length)) {
      deal(order, spare, halves, digit, counts, first, end);
    }
    [order, spare] = [spare, order];
  }
  return order;
}

function count(
  halves: Uint16Array,
  digit: number,
  counts: Uint32Array,
  first: number,
  end: number,
): void {
  for (let at = first; at < end; at++) counts[halves[4 * at + digit]!]!++;
}

/** Deals the numbers from `first` up to `end` to where their digits belong. */
function deal(
  order: Uint32Array,
  into: Uint32Array,
  halves: Uint16Array,
  digit: number,
  next: Uint32Array,
  first: number,
  end: number,
): void {
  for (let at = first; at < end; at++) {
    const key = order[at]!;
    into[next[halves[4 * key + digit]!]!++] = key;
  }
}

/** Orders that are kept for each set of rows. */
const KEPT = 2;

const kept = new WeakMap<Int32Array, Map<SortKey, Promise<Int32Array>>>();
const finished = new WeakMap<Promise<Int32Array>, Int32Array>();

/** The result of an earlier `sortedRows`, if it is kept. */
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
  const keys = await keysOf(recording, rows, key);
  const order = await sortOrder(keys);
  const sorted = new Int32Array(rows.length);
  for await (const [first, end] of inPieces(0, rows.length)) {
    for (let at = first; at < end; at++) sorted[at] = rows[order[at]!]!;
  }
  return sorted;
}

/** Rows ascending by their starts. */
interface Run {
  rows: Int32Array;
  starts: Float64Array;
}

/** The rows of a part are ordered by start already, so parts are merged, two and two. */
async function mergeByStart({ parts }: LookIndex, rows: Int32Array): Promise<Int32Array> {
  if (parts.length === 1) return rows;
  const turns = new Turns();
  let runs: Run[] = [];
  for (const { part, firstRow, from: first, to } of rowsByPart(parts, rows)) {
    const run = { rows: rows.subarray(first, to), starts: new Float64Array(to - first) };
    for await (const [from, end] of inPieces(0, run.starts.length, turns)) {
      addStarts(part, firstRow, run, from, end);
    }
    runs.push(run);
  }
  while (runs.length > 1) {
    const merged: Run[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at]!, runs[at + 1]];
      merged.push(right === undefined ? left : await mergeTwo(left, right, turns));
    }
    runs = merged;
  }
  return runs[0]?.rows ?? rows;
}

function addStarts(
  { start, offset }: IndexPart,
  firstRow: number,
  { rows, starts }: Run,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) starts[at] = start[rows[at]! - firstRow]! + offset;
}

/** Merges two runs; of rows that start at once those on the left come first. */
async function mergeTwo(left: Run, right: Run, turns: Turns): Promise<Run> {
  const length = left.rows.length + right.rows.length;
  const merged: Run = { rows: new Int32Array(length), starts: new Float64Array(length) };
  let [a, b] = [0, 0];
  for await (const [first, end] of inPieces(0, length, turns)) {
    [a, b] = mergePiece(left, right, merged, a, b, first, end);
  }
  return merged;
}

/** Fills the rows from `first` up to `end`. @returns which rows of the two come next. */
function mergePiece(
  left: Run,
  right: Run,
  merged: Run,
  a: number,
  b: number,
  first: number,
  end: number,
): [number, number] {
  const [leftStarts, rightStarts] = [left.starts, right.starts];
  const [leftEnd, rightEnd] = [leftStarts.length, rightStarts.length];
  for (let at = first; at < end; at++) {
    const isLeft = b === rightEnd || (a < leftEnd && leftStarts[a]! <= rightStarts[b]!);
    merged.starts[at] = isLeft ? leftStarts[a]! : rightStarts[b]!;
    merged.rows[at] = isLeft ? left.rows[a++]! : right.rows[b++]!;
  }
  return [a, b];
}

async function keysOf(recording: Recording, rows: Int32Array, key: SortKey): Promise<Float64Array> {
  const sortKeys = new SortKeys(recording, key);
  const keys = new Float64Array(rows.length);
  const turns = new Turns();
  for (const { part, firstRow, from, to } of rowsByPart(recording.index.parts, rows)) {
    const column = sortKeys.column(part);
    for await (const [first, end] of inPieces(from, to, turns)) {
      addKeys(keys, rows, firstRow, column, first, end);
    }
  }
  return keys;
}

function addKeys(
  keys: Float64Array,
  rows: Int32Array,
  firstRow: number,
  { values, ranks }: KeyColumn,
  first: number,
  end: number,
): void {
  for (let at = first; at < end; at++) {
    const value = values[rows[at]! - firstRow]!;
    keys[at] = ranks === undefined ? value : ranks[value]!;
  }
}
