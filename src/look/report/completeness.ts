import { MISSING_PARENT, NO_TRACE } from '../index/look-index.js';
import { INCOMPLETE, SEEN, countTraces } from './count-traces.js';
import type { PartTraces } from './count-traces.js';
import type { Completeness } from './report-shape.js';
import { SPAN } from './selection.js';
import type { RowSelection } from './selection.js';
import type { Steps } from '../index/turns.js';

/** How many spans and traces the window has, and of how many traces a part is missing. */
export function* completenessOf(selection: RowSelection): Steps<Completeness> {
  const { parts } = selection.index;
  const traces: PartTraces[] = [];
  let spans = 0;
  let missingParents = 0;
  for (const part of parts) {
    yield;
    const marks = selection.marksOf(part);
    if (marks.length === 0) continue;
    const states = new Uint8Array(part.traceCount);
    const { trace, parent } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) === 0) continue;
      spans++;
      const isMissing = parent[at] === MISSING_PARENT;
      if (isMissing) missingParents++;
      const number = trace[at]!;
      if (number !== NO_TRACE) states[number]! |= isMissing ? SEEN | INCOMPLETE : SEEN;
    }
    traces.push({ traceIds: part.traceIds, states });
  }
  const { seen, incomplete } = yield* countTraces(traces);
  return { spans, traces: seen, incompleteTraces: incomplete, missingParents };
}
