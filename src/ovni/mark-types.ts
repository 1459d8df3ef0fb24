import type { MarkType } from './metadata.js';
import type { TraceDirectory } from './trace-directory.js';

/** The mark types of a trace by number: any thread may use those that another has defined. */
export type MarkTypes = ReadonlyMap<number, MarkType>;

/** The mark types of all threads, each with the labels that any of them gives. */
export function markTypesOf(trace: TraceDirectory): MarkTypes {
  const types = new Map<number, MarkType>();
  for (const { metadata } of trace.streams) {
    for (const [type, mark] of metadata.marks) {
      const known = types.get(type);
      const labels = new Map([...(known?.labels ?? []), ...mark.labels]);
      types.set(type, { ...mark, labels });
    }
  }
  return types;
}
