import type { RowCounter } from '../../../rows/row-batch.js';

/** Joins the curves of the stretches of a trace, in their order. */
export function joinCounters(stretches: readonly (readonly RowCounter[])[]): readonly RowCounter[] {
  if (stretches.length === 1) return stretches[0]!;
  const joined = new Map<string, RowCounter>();
  for (const counter of stretches.flat()) {
    const key = `${counter.process?.pid} ${counter.thread} ${counter.name}`;
    const known = joined.get(key);
    if (known === undefined) {
      joined.set(key, { ...counter, times: [...counter.times], values: [...counter.values] });
      continue;
    }
    for (const time of counter.times) known.times.push(time);
    for (const value of counter.values) known.values.push(value);
  }
  return [...joined.values()];
}
