const DIGIT = 1 << 16;

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
    for (let at = 0; at < length; at++) {
      const place = order[at]!;
      spare[counts[halves[4 * place + digit]!]!++] = place;
    }
    [order, spare] = [spare, order];
    await turn();
  }
  return order;
}
