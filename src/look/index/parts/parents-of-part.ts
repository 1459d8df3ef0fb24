import { MISSING_PARENT, NO_PARENT, NO_TRACE } from '../look-index.js';
import { IdTable } from '../../../rows/id-table.js';
import type { ColumnMemory } from './column-memory.js';
import { MISSING_WORDS } from './part-columns.js';
import type { RowColumns } from '../../../rows/row-columns.js';

/** Traces with fewer rows are searched row by row. */
const SMALL_TRACE = 16;

/** Parents of a part's rows: see `PartColumns` and `PartFacts`. */
interface PartParents {
  parent: Int32Array;
  missing: Uint32Array;
  hasCycles: boolean;
}

/**
 * Finds the parents of rows within their part, trace by trace: what belongs together lies together, so each
 * row costs the same however many there are.
 *
 * @param order the rows in order of start.
 * @param trace the trace of each ordered row, a number below `traces` or NO_TRACE.
 * @param spanId of each ordered row.
 */
export function parentsOfPart(
  rows: RowColumns,
  order: Uint32Array,
  trace: Uint32Array,
  traces: number,
  spanId: Uint32Array,
  memory: ColumnMemory,
): PartParents {
  const { ends, members } = rowsByTrace(trace, traces, memory);
  const parent = memory.integers('parent', order.length).fill(NO_PARENT);
  const { parentId } = rows;
  const table = new IdTable(spanId);
  let missing = 0;
  let isAscending = true;
  for (let number = 0, from = 0; number < traces; number++) {
    const to = ends[number]!;
    const isLarge = to - from > SMALL_TRACE;
    if (isLarge) table.fill(from, to, members);
    for (let at = from; at < to; at++) {
      const row = members[at]!;
      const wanted = 2 * order[row]!;
      const high = parentId[wanted]!;
      const low = parentId[wanted + 1]!;
      if ((high | low) === 0) continue;
      let found = MISSING_PARENT;
      if (isLarge) {
        found = table.find(high, low);
        if (found === -1) found = MISSING_PARENT;
      } else {
        for (let other = from; other < to; other++) {
          const candidate = members[other]!;
          if (spanId[2 * candidate + 1] !== low || spanId[2 * candidate] !== high) continue;
          found = candidate;
          break;
        }
      }
      parent[row] = found;
      if (found === MISSING_PARENT) missing++;
      else if (found >= row) isAscending = false;
    }
    from = to;
  }
  const lost = new Uint32Array(MISSING_WORDS * missing);
  for (let row = 0, at = 0; at < lost.length; row++) {
    if (parent[row] !== MISSING_PARENT) continue;
    lost[at++] = row;
    lost[at++] = parentId[2 * order[row]!]!;
    lost[at++] = parentId[2 * order[row]! + 1]!;
  }
  // Where each parent comes before its child there is no cycle.
  const hasCycles = !isAscending && cutCycles(parent);
  return { parent, missing: lost, hasCycles };
}

/** The rows of each trace in their order: those of trace `i` end at `ends[i]` in `members`. */
function rowsByTrace(
  trace: Uint32Array,
  traces: number,
  memory: ColumnMemory,
): { ends: Uint32Array; members: Uint32Array } {
  const ends = memory.words('traceEnds', traces).fill(0);
  for (let row = 0; row < trace.length; row++) {
    const number = trace[row]!;
    if (number !== NO_TRACE) ends[number]!++;
  }
  let sum = 0;
  for (let number = 0; number < traces; number++) {
    const count = ends[number]!;
    ends[number] = sum;
    sum += count;
  }
  const members = memory.words('members', sum);
  for (let row = 0; row < trace.length; row++) {
    const number = trace[row]!;
    if (number !== NO_TRACE) members[ends[number]!++] = row;
  }
  return { ends, members };
}

const IN_WORK = 1;
const DONE = 2;

/** The parent of a span that is its own ancestor counts as missing. @returns whether there is one. */
function cutCycles(parent: Int32Array): boolean {
  const states = new Uint8Array(parent.length);
  let hasCycles = false;
  for (let first = 0; first < parent.length; first++) {
    let row = first;
    let below = first;
    while (row >= 0 && states[row] === 0) {
      states[row] = IN_WORK;
      below = row;
      row = parent[row]!;
    }
    if (row >= 0 && states[row] === IN_WORK) {
      parent[below] = MISSING_PARENT;
      hasCycles = true;
    }
    for (row = first; row >= 0 && states[row] === IN_WORK; row = parent[row]!) states[row] = DONE;
  }
  return hasCycles;
}
