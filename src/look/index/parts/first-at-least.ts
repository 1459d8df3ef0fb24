/** The first number in an ascending stretch of a column whose value is at least `value`; its end if none is. */
export function firstAtLeast(
  column: ArrayLike<number>,
  value: number,
  from = 0,
  to = column.length,
): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
