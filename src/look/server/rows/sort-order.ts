const DIGIT = 1 << 16;
/** Keys that are placed before other questions are answered: some milliseconds. */
const PIECE = 1 << 18;

/** Lets the server answer other questions. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * The places of keys in ascending order; equal ones keep their order. A radix sort of the bits, which have
 * the order of the numbers as long as none is negative.
 *
 * @param keys at least 0 each, not NaN.
 */
export async function sortOrder(keys: Float64Array): Promise<Uint32Array> {
  const { length } = keys;
  const halves = new Uint16Array(keys.buffer, keys.byteOffset, 4 * length);
  let order = new Uint32Array(length);
  for (let at = 0; at < length; at++) order[at] = at;
  let spare = new Uint32Array(length);
  for (let digit = 0; digit < 4; digit++) {
    await turn();
    const counts = new Uint32Array(DIGIT);
    for (let at = digit; at < halves.length; at += 4) counts[halves[at]!]!++;
    // Times are integers: the last digits of most are zero.
    if (counts.includes(length)) continue;
    let sum = 0;
    for (let value = 0; value < DIGIT; value++) {
      const count = counts[value]!;
      counts[value] = sum;
      sum += count;
    }
    for (let first = 0; first < length; first += PIECE) {
      place(order, spare, halves, digit, counts, first, Math.min(length, first + PIECE));
      await turn();
    }
    [order, spare] = [spare, order];
  }
  return order;
}

/** Moves the places from `first` up to `end` to where their digits belong. */
function place(
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
