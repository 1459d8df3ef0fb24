const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const KEY_RANGE = 2 ** 32 - 1;
/** Rows that are too close for the keys: more of them at once are sorted by comparison. */
const SHORT_RUN = 16;

/**
 * The rows in order of start; of equal starts the longest first, so that a parent comes before its
 * children, and then the last one of the file. Time is linear unless many rows start at once.
 */
export function orderRows(start: Float64Array, duration: Float64Array, count: number): Uint32Array {
  let least = Infinity;
  let most = -Infinity;
  let isOrdered = true;
  for (let row = 0; row < count; row++) {
    const value = start[row]!;
    if (value < most) isOrdered = false;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  let order = new Uint32Array(count);
  for (let row = 0; row < count; row++) order[row] = row;
  if (!isOrdered) {
    const keys = new Uint32Array(count);
    const scale = most > least ? KEY_RANGE / (most - least) : 0;
    for (let row = 0; row < count; row++) keys[row] = (start[row]! - least) * scale;
    order = byKeys(order, keys);
  }
  finish(
    order,
    (a, b) => start[a]! - start[b]! || duration[b]! - duration[a]! || b - a,
    (a, b) =>
      start[a]! > start[b]! ||
      (start[a] === start[b] &&
        (duration[a]! < duration[b]! || (duration[a] === duration[b] && a < b))),
  );
  return order;
}

/** A radix sort by 32 bits. */
function byKeys(rows: Uint32Array<ArrayBuffer>, keys: Uint32Array): Uint32Array<ArrayBuffer> {
  let from = rows;
  let to = new Uint32Array(rows.length);
  const counts = new Uint32Array(DIGITS);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    counts.fill(0);
    for (const key of keys) counts[(key >>> shift) & (DIGITS - 1)]!++;
    let sum = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const count = counts[digit]!;
      counts[digit] = sum;
      sum += count;
    }
    for (const row of from) to[counts[(keys[row]! >>> shift) & (DIGITS - 1)]!++] = row;
    [from, to] = [to, from];
  }
  return from;
}

/** Sorts what is nearly sorted: each row is at most in a wrong place within its run of close rows. */
function finish(
  order: Uint32Array,
  compare: (a: number, b: number) => number,
  isAfter: (a: number, b: number) => boolean,
): void {
  let moves = 0;
  for (let i = 1; i < order.length; i++) {
    const row = order[i]!;
    let at = i;
    while (at > 0 && isAfter(order[at - 1]!, row)) {
      order[at] = order[at - 1]!;
      at--;
      moves++;
    }
    order[at] = row;
    if (moves > SHORT_RUN * (i + SHORT_RUN)) {
      order.sort(compare);
      return;
    }
  }
}
