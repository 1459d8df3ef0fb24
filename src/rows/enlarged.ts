export type Numbers =
  Uint8Array | Uint32Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** A larger array of the same kind, which begins with these numbers. */
export function enlarged<T extends Numbers>(numbers: T, size = 2 * numbers.length): T {
  const larger = new (numbers.constructor as new (size: number) => T)(size);
  larger.set(numbers);
  return larger;
}

/** The same change of each column. */
export function eachColumn<T extends Record<keyof T, Numbers>>(
  columns: T,
  change: (column: Numbers) => Numbers,
): T {
  const changed = Object.entries<Numbers>(columns).map(([name, column]) => [name, change(column)]);
  return Object.fromEntries(changed) as T;
}
