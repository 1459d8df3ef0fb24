import { MISSING_PARENT, NO_TRACE } from '../index/look-index.js';
import type { Completeness } from './report-shape.js';
import { SPAN } from './selection.js';
import type { RowSelection } from './selection.js';
import { TraceSet } from './trace-set.js';

const SEEN = 1;
const INCOMPLETE = 2;

/** How many spans and traces the window has, and of how many traces a part is missing. */
export function completenessOf(selection: RowSelection): Completeness {
  const { parts } = selection.index;
  const traces = new TraceSet(parts.reduce((sum, { traceCount }) => sum + traceCount, 0));
  let spans = 0;
  let missingParents = 0;
  for (const part of parts) {
    const seen = new Uint8Array(part.traceCount);
    const marks = selection.marksOf(part);
    const { trace, parent } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) === 0) continue;
      spans++;
      const isMissing = parent[at] === MISSING_PARENT;
      if (isMissing) missingParents++;
      const number = trace[at]!;
      if (number !== NO_TRACE) seen[number]! |= isMissing ? SEEN | INCOMPLETE : SEEN;
    }
    for (let number = 0; number < seen.length; number++) {
      if (seen[number] !== 0) traces.add(part, number, (seen[number]! & INCOMPLETE) !== 0);
    }
  }
  return {
    spans,
    traces: traces.seen,
    incompleteTraces: traces.incomplete,
    missingParents,
  };
}
