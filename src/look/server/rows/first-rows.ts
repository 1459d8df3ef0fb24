import { INSTANT_BIT } from '../../index/look-index.js';
import type { IndexPart } from '../../index/look-index.js';
import type { Recording } from '../recording.js';
import { SortKeys } from './sort-keys.js';
import type { KeyColumn, SortKey } from './sort-keys.js';

/** Beyond so many rows sorting all of them is the way. */
export const MOST_FIRST_ROWS = 2000;

/**
 * The rows with the least keys, or the greatest, in order: what `sortedRows` begins with, or ends with. It
 * looks at every row once.
 *
 * @param rows ascending; undefined: every span.
 * @param count at most `MOST_FIRST_ROWS`.
 */
export function firstRows(
  recording: Recording,
  rows: Int32Array | undefined,
  key: SortKey,
  descending: boolean,
  count: number,
): Int32Array {
  const keys = new SortKeys(recording, key);
  const best = new BestRows(Math.max(1, count), descending);
  const { parts } = recording.index;
  // Of rows with one key those that come first here are shown first.
  for (let number = 0; number < parts.length; number++) {
    const part = parts[descending ? parts.length - 1 - number : number]!;
    const from = rows === undefined ? 0 : placeOf(rows, part.firstRow);
    const to = rows === undefined ? part.count : placeOf(rows, part.firstRow + part.count);
    if (from < to) best.add(part, rows, from, to, keys.column(part));
  }
  return best.take().subarray(0, count);
}

/** The best rows so far, and those that may be. */
class BestRows {
  readonly #count: number;
  /** Keys of descending orders are negative, so that the least are the best. */
  readonly #isDescending: boolean;
  readonly #keys: Float64Array;
  readonly #rows: Int32Array;
  #size = 0;
  /** The key from which on a row cannot be among them. */
  #limit = Infinity;

  constructor(count: number, isDescending: boolean) {
    this.#count = count;
    this.#isDescending = isDescending;
    this.#keys = new Float64Array(4 * count);
    this.#rows = new Int32Array(4 * count);
  }

  /**
   * Takes `rows` from place `from` up to `to`, the last ones first if the order is descending. Without
   * `rows` the places are those of the part.
   */
  add(
    part: IndexPart,
    rows: Int32Array | undefined,
    from: number,
    to: number,
    { values, offset, ranks }: KeyColumn,
  ): void {
    const { firstRow, flags } = part;
    const step = this.#isDescending ? -1 : 1;
    const first = this.#isDescending ? to - 1 : from;
    const end = this.#isDescending ? from - 1 : to;
    for (let place = first; place !== end; place += step) {
      const at = rows === undefined ? place : rows[place]! - firstRow;
      const value = values[at]!;
      const key = step * (ranks === undefined ? value + offset : ranks[value]!);
      if (key >= this.#limit) continue;
      if (rows === undefined && (flags[at]! & INSTANT_BIT) !== 0) continue;
      this.#put(key, firstRow + at);
    }
  }

  take(): Int32Array {
    this.#keepBest();
    return this.#rows.slice(0, this.#size);
  }

  #put(key: number, row: number): void {
    this.#keys[this.#size] = key;
    this.#rows[this.#size++] = row;
    if (this.#size === this.#rows.length) this.#keepBest();
  }

  #keepBest(): void {
    const order = Uint32Array.from({ length: this.#size }, (_, at) => at);
    order.sort((a, b) => this.#keys[a]! - this.#keys[b]! || a - b);
    const best = order.subarray(0, this.#count);
    const keys = Float64Array.from(best, (at) => this.#keys[at]!);
    this.#rows.set(Int32Array.from(best, (at) => this.#rows[at]!));
    this.#keys.set(keys);
    this.#size = best.length;
    if (this.#size === this.#count) this.#limit = keys[this.#count - 1]!;
  }
}

/** The place of the first of `rows` that is not below `least`. */
function placeOf(rows: Int32Array, least: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
