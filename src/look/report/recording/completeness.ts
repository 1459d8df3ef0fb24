import { NO_TRACE } from '../../index/look-index.js';
import type { IndexPart } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { INCOMPLETE, SEEN, countTraces } from '../measures/count-traces.js';
import type { PartTraces } from '../measures/count-traces.js';
import type { Completeness } from '../shape/report-shape.js';
import { SPAN } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';

/** How many spans and traces the window has, and of how many traces a part is missing. */
export function* completenessOf(selection: RowSelection): Steps<Completeness> {
  const traces: PartTraces[] = [];
  let spans = 0;
  let missingParents = 0;
  let begunBefore = 0;
  for (const part of selection.index.parts) {
    yield;
    const marks = selection.marksOf(part);
    if (marks.length === 0) continue;
    const states = new Uint8Array(part.traceCount);
    if (selection.isFull(part)) {
      // Each of its traces is that of one of its rows.
      spans += part.count;
      states.fill(SEEN);
    } else spans += addSpans(part, marks, states);
    missingParents += addMissing(part, marks, states);
    begunBefore += addBegunBefore(part, marks, states);
    traces.push({ traceIds: part.traceIds, states });
  }
  const { seen, incomplete } = yield* countTraces(traces);
  return { spans, traces: seen, incompleteTraces: incomplete, missingParents, begunBefore };
}

/** Marks the traces of spans that began before what is left of the trace: spans below them may be deleted. */
function addBegunBefore(part: IndexPart, marks: Uint8Array, states: Uint8Array): number {
  const { start, trace, source } = part;
  const until = source.deleted?.until ?? -Infinity;
  let begun = 0;
  // Rows are in order of start.
  for (let at = 0; at < marks.length && start[at]! < until; at++) {
    if ((marks[at]! & SPAN) === 0) continue;
    begun++;
    const number = trace[at]!;
    if (number !== NO_TRACE) states[number] = SEEN | INCOMPLETE;
  }
  return begun;
}

/** Marks the traces of a part's spans. @returns how many spans there are. */
function addSpans({ trace }: IndexPart, marks: Uint8Array, states: Uint8Array): number {
  let spans = 0;
  for (let at = 0; at < marks.length; at++) {
    if ((marks[at]! & SPAN) === 0) continue;
    spans++;
    const number = trace[at]!;
    if (number !== NO_TRACE) states[number] = SEEN;
  }
  return spans;
}

/** Marks the traces of spans without their parent. @returns how many spans those are. */
function addMissing(
  { trace, missingParents }: IndexPart,
  marks: Uint8Array,
  states: Uint8Array,
): number {
  let missing = 0;
  for (const at of missingParents) {
    if (((marks[at] ?? 0) & SPAN) === 0) continue;
    missing++;
    const number = trace[at]!;
    if (number !== NO_TRACE) states[number] = SEEN | INCOMPLETE;
  }
  return missing;
}
