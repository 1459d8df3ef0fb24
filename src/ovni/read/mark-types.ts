import { MAX_LABEL_BYTES } from '../layout.js';
import type { MarkType } from './metadata.js';
import type { TraceDirectory } from './trace-directory.js';

/** The mark types of a trace by number: any thread may use those that another has defined. */
export type MarkTypes = ReadonlyMap<number, MarkType>;

/** A title or label, cut because each event of a dump may repeat it. */
function shortened(text: string): string {
  return text.length > MAX_LABEL_BYTES ? `${text.slice(0, MAX_LABEL_BYTES)}…` : text;
}

/**
 * The mark types of all threads, each with the labels of all threads. Texts that are longer than the
 * emulator accepts are cut.
 */
export function markTypesOf(trace: TraceDirectory): MarkTypes {
  const types = new Map<number, MarkType & { labels: Map<bigint, string> }>();
  for (const { metadata } of trace.streams) {
    for (const [type, mark] of metadata.marks) {
      const labels = types.get(type)?.labels ?? new Map<bigint, string>();
      for (const [value, label] of mark.labels) labels.set(value, shortened(label));
      types.set(type, { ...mark, title: shortened(mark.title), labels });
    }
  }
  return types;
}
