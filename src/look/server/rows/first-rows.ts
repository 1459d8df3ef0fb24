import { INSTANT_BIT } from '../../index/look-index.js';
import { BLOCK_ROWS } from '../../index/parts/attribute-blocks.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import type { IndexPart } from '../../index/look-index.js';
import type { Recording } from '../recording.js';
import { SortKeys } from './sort-keys.js';
import type { KeyColumn, SortKey } from './sort-keys.js';

/** Beyond so many rows sorting all of them is the way. */
export const MOST_FIRST_ROWS = 2000;

/**
 * The rows with the least keys, or the greatest, in order: what `sortedRows` begins with, or ends with. It
 * looks at the rows of blocks that may have one.
 *
 * @param rows ascending; undefined: every span of `parts`.
 * @param count at most `MOST_FIRST_ROWS`.
 */
export function firstRows(
  recording: Recording,
  rows: Int32Array | undefined,
  key: SortKey,
  descending: boolean,
  count: number,
  parts: readonly IndexPart[] = recording.index.parts,
): Int32Array {
  const keys = new SortKeys(recording, key);
  const best = new BestRows(Math.max(1, count), descending);
  // Of rows with one key those that come first here are shown first.
  for (let number = 0; number < parts.length; number++) {
    const part = parts[descending ? parts.length - 1 - number : number]!;
    if (rows === undefined) {
      best.addPart(part, keys.column(part));
      continue;
    }
    const from = firstAtLeast(rows, part.firstRow);
    const to = firstAtLeast(rows, part.firstRow + part.count);
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

  /** Takes rows of a part, those from `from` up to `to` of `rows`. */
  add(part: IndexPart, rows: Int32Array, from: number, to: number, column: KeyColumn): void {
    const step = this.#isDescending ? -1 : 1;
    const first = this.#isDescending ? to - 1 : from;
    const end = this.#isDescending ? from - 1 : to;
    const { values, offset, ranks } = column;
    const { firstRow } = part;
    for (let i = first; i !== end; i += step) {
      const value = values[rows[i]! - firstRow]!;
      const key = step * (ranks === undefined ? value + offset : ranks[value]!);
      if (key < this.#limit) this.#put(key, rows[i]!);
    }
  }

  /** Takes every span of a part. */
  addPart(part: IndexPart, column: KeyColumn): void {
    const blocks = Math.ceil(part.count / BLOCK_ROWS);
    for (let each = 0; each < blocks; each++) {
      const block = this.#isDescending ? blocks - 1 - each : each;
      const [least, most] = column.boundsOf(block);
      if ((this.#isDescending ? -most : least) < this.#limit) this.#addBlock(part, column, block);
    }
  }

  /** The last ones first if the order is descending. */
  #addBlock(part: IndexPart, { values, offset, ranks }: KeyColumn, block: number): void {
    const { firstRow, flags } = part;
    const from = block * BLOCK_ROWS;
    const to = Math.min(part.count, from + BLOCK_ROWS);
    const step = this.#isDescending ? -1 : 1;
    const end = this.#isDescending ? from - 1 : to;
    for (let at = this.#isDescending ? to - 1 : from; at !== end; at += step) {
      const value = values[at]!;
      const key = step * (ranks === undefined ? value + offset : ranks[value]!);
      if (key >= this.#limit || (flags[at]! & INSTANT_BIT) !== 0) continue;
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
