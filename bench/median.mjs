/**
 * @param {readonly number[]} values at least one.
 * @param {number} q 0 to 1.
 */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** @param {readonly number[]} values at least one. */
export function median(values) {
  return quantile(values, 0.5);
}
