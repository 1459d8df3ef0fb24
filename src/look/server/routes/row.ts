import {
  INSTANT_BIT,
  MISSING_PARENT,
  NO_PARENT,
  NO_TRACE,
  STATUS_MASK,
  STATUS_SHIFT,
  UNFINISHED_BIT,
} from '../../index/look-index.js';
import type { LookIndex } from '../../index/look-index.js';
import { STATUSES } from '../../../spans/layout.js';
import { callTarget, isCall } from '../../report/call-target.js';
import { isInterruption } from '../../report/interruptions.js';
import { requestPath } from '../../report/request-path.js';
import type { RowAnswer } from '../../wire/answers.js';
import type { Route } from '../route.js';
import { openMeanwhile } from '../rows/open-meanwhile.js';
import { spansAroundRow } from '../rows/spans-around-row.js';
import { keyOfRow, rowOfQuestion, spanIdOf } from '../rows/row-key.js';

/** Attributes of a span: nobody reads more. */
const MOST_ATTRIBUTES = 1000;

/** All that is known of one row: `row`, and `key` if it may have another number by now. */
export const rowRoute: Route = {
  path: '/data/row',
  method: 'GET',
  async answer({ recording: { index }, query }) {
    return { json: await describe(index, rowOfQuestion(index, query)) };
  },
};

async function describe(index: LookIndex, row: number): Promise<RowAnswer> {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const flags = part.flags[at]!;
  const parent = part.parent[at]!;
  const trace = part.trace[at]!;
  const spanId = spanIdOf(index, row);
  const name = part.names.text(part.name[at]!);
  const interrupts = trace !== NO_TRACE && isInterruption(name);
  return {
    row,
    key: keyOfRow(index, row),
    track: part.track[at]!,
    lane: part.lane[at]!,
    name,
    start: part.start[at]! + part.offset,
    duration: part.duration[at]!,
    unfinished: (flags & UNFINISHED_BIT) !== 0,
    instant: (flags & INSTANT_BIT) !== 0,
    status: STATUSES[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? 'unset',
    parent: parent === NO_PARENT ? 'root' : parent === MISSING_PARENT ? 'missing' : parent,
    path: requestPath(index, row),
    target: isCall(part, at) ? callTarget(index, row) : null,
    isAlone: interrupts || (parent === NO_PARENT && isOnlyOne(index, row)),
    openMeanwhile: interrupts ? openMeanwhile(index, row) : { count: 0, rows: [] },
    ...(interrupts ? await spansAroundRow(index, row) : { ran: [], delayed: [] }),
    ...(trace === NO_TRACE ? {} : { traceId: part.traceId(trace) }),
    ...(spanId === undefined ? {} : { spanId }),
    details: index.details(row, MOST_ATTRIBUTES),
  };
}

/** Whether a trace has no other row. Children follow as a rule, which are found at once. */
function isOnlyOne(index: LookIndex, row: number): boolean {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const wanted = part.trace[at]!;
  if (wanted === NO_TRACE) return true;
  if (part.trace.includes(wanted, at + 1)) return false;
  return index.rowsOfTrace(part.traceId(wanted)).length === 1;
}
