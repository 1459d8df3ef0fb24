import { inPieces } from '../../index/turns.js';

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
