import { ColumnMemory } from './column-memory.js';
import { firstAtLeast } from './first-at-least.js';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const KEY_RANGE = 2 ** 32 - 1;
/** Rows of a bucket, as a rule. */
const BUCKET_ROWS = 2;
/** Rows that are too close for the keys: more of them at once are sorted by comparison. */
const SHORT_RUN = 16;

/**
 * The rows in order of start; of equal starts the longest first, so that a parent comes before its
 * children, and then the last one of the file. Time is linear unless many rows start at once.
 */
export function orderRows(
  start: Float64Array,
  duration: Float64Array,
  count: number,
  memory = new ColumnMemory(),
): Uint32Array {
  let least = Infinity;
  let most = -Infinity;
  let isOrdered = true;
  for (let row = 0; row < count; row++) {
    const value = start[row]!;
    if (value < most) isOrdered = false;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  let order: Uint32Array | undefined;
  if (!isOrdered) {
    order = byBuckets(start, count, least, most, memory) ?? byKeys(start, count, least, most);
  } else {
    order = memory.words('order', count);
    for (let row = 0; row < count; row++) order[row] = row;
  }
  finish(
    order,
    start,
    (a, b) => start[a]! - start[b]! || duration[b]! - duration[a]! || b - a,
    (a, b) => duration[a]! < duration[b]! || (duration[a] === duration[b] && a < b),
  );
  return order;
}

/**
 * Puts the rows into buckets of time, one for a few rows. Rows that are nearly in order go to memory that
 * is near, which the processor's caches have. Undefined: the rows are too uneven for it.
 */
function byBuckets(
  start: Float64Array,
  count: number,
  least: number,
  most: number,
  memory: ColumnMemory,
): Uint32Array | undefined {
  const buckets = Math.ceil(count / BUCKET_ROWS);
  const scale = (buckets - 1) / (most - least);
  const ends = memory.words('buckets', buckets).fill(0);
  for (let row = 0; row < count; row++) ends[((start[row]! - least) * scale) >>> 0]!++;
  let sum = 0;
  let crowded = 0;
  for (let bucket = 0; bucket < buckets; bucket++) {
    const own = ends[bucket]!;
    if (own > SHORT_RUN) crowded += own * (own / SHORT_RUN);
    ends[bucket] = sum;
    sum += own;
  }
  if (crowded > count || sum !== count) return undefined;
  const order = memory.words('order', count);
  for (let row = 0; row < count; row++) {
    order[ends[((start[row]! - least) * scale) >>> 0]!++] = row;
  }
  return order;
}

/** A radix sort by 32 bits. */
function byKeys(
  start: Float64Array,
  count: number,
  least: number,
  most: number,
): Uint32Array<ArrayBuffer> {
  const keys = new Uint32Array(count);
  const scale = most > least ? KEY_RANGE / (most - least) : 0;
  for (let row = 0; row < count; row++) keys[row] = (start[row]! - least) * scale;
  let from = new Uint32Array(count);
  for (let row = 0; row < count; row++) from[row] = row;
  let to = new Uint32Array(count);
  const counts = new Uint32Array(DIGITS);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    counts.fill(0);
    for (const key of keys) counts[(key >>> shift) & (DIGITS - 1)]!++;
    let sum = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const own = counts[digit]!;
      counts[digit] = sum;
      sum += own;
    }
    for (const row of from) to[counts[(keys[row]! >>> shift) & (DIGITS - 1)]!++] = row;
    [from, to] = [to, from];
  }
  return from;
}

/**
 * Sorts what is nearly sorted: each row is at most wrong within its run of close rows.
 *
 * @param isAfter of rows that start at once.
 */
function finish(
  order: Uint32Array,
  start: Float64Array,
  compare: (a: number, b: number) => number,
  isAfter: (a: number, b: number) => boolean,
): void {
  let moves = 0;
  let before = -Infinity;
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    const value = start[row]!;
    // As a rule it is right.
    if (value > before) {
      before = value;
      continue;
    }
    let at = i;
    while (at > 0) {
      const other = order[at - 1]!;
      const otherValue = start[other]!;
      if (otherValue < value || (otherValue === value && !isAfter(other, row))) break;
      order[at--] = other;
      moves++;
    }
    order[at] = row;
    if (moves > SHORT_RUN * (i + SHORT_RUN)) {
      order.sort(compare);
      return;
    }
  }
}

/** The rows of one part among others, from number `from` up to `to`. */
interface RowsOfPart<Part> {
  part: Part;
  /** First row when the rows were chosen: a refresh may come in between. */
  firstRow: number;
  from: number;
  to: number;
}

/** Which of ascending numbers of rows are of which part. */
export function rowsByPart<Part extends { firstRow: number; count: number }>(
  parts: readonly Part[],
  rows: Int32Array,
): RowsOfPart<Part>[] {
  return parts.map((part) => {
    const { firstRow, count } = part;
    const from = firstAtLeast(rows, firstRow);
    return { part, firstRow, from, to: firstAtLeast(rows, firstRow + count, from) };
  });
}
