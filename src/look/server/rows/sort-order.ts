import { Turns } from '../../index/turns.js';

const DIGIT = 1 << 16;
/** Keys that are dealt before other questions may be answered: some milliseconds. */
const PIECE = 1 << 18;

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
  const turns = new Turns();
  for (let first = 0; first < length; first += PIECE) {
    number(order, first, Math.min(length, first + PIECE));
    await turns.next();
  }
  let spare = new Uint32Array(length);
  for (let digit = 0; digit < 4; digit++) {
    const counts = new Uint32Array(DIGIT);
    for (let first = 0; first < length; first += PIECE) {
      count(halves, digit, counts, first, Math.min(length, first + PIECE));
      await turns.next();
    }
    // Times are integers: the last digits of most are zero.
    if (counts.includes(length)) continue;
    let sum = 0;
    for (let value = 0; value < DIGIT; value++) {
      const own = counts[value]!;
      counts[value] = sum;
      sum += own;
    }
    for (let first = 0; first < length; first += PIECE) {
      deal(order, spare, halves, digit, counts, first, Math.min(length, first + PIECE));
      await turns.next();
    }
    [order, spare] = [spare, order];
  }
  return order;
}

function number(order: Uint32Array, first: number, end: number): void {
  for (let at = first; at < end; at++) order[at] = at;
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
