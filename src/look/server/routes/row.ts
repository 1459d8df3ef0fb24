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
import type { RowAnswer } from '../../wire/answers.js';
import type { Route } from '../route.js';
import { keyOfRow, rowOfQuestion, spanIdOf } from '../rows/row-key.js';

/** All that is known of one row: `row`, and `key` if it may have another number by now. */
export const rowRoute: Route = {
  path: '/data/row',
  method: 'GET',
  answer: ({ recording: { index }, query }) => ({
    json: describe(index, rowOfQuestion(index, query)),
  }),
};

function describe(index: LookIndex, row: number): RowAnswer {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const flags = part.flags[at]!;
  const parent = part.parent[at]!;
  const trace = part.trace[at]!;
  const spanId = spanIdOf(index, row);
  return {
    row,
    key: keyOfRow(index, row),
    track: part.track[at]!,
    lane: part.lane[at]!,
    name: part.names.text(part.name[at]!),
    start: part.start[at]! + part.offset,
    duration: part.duration[at]!,
    unfinished: (flags & UNFINISHED_BIT) !== 0,
    instant: (flags & INSTANT_BIT) !== 0,
    status: STATUSES[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? 'unset',
    parent: parent === NO_PARENT ? 'root' : parent === MISSING_PARENT ? 'missing' : parent,
    ...(trace === NO_TRACE ? {} : { traceId: part.traceId(trace) }),
    ...(spanId === undefined ? {} : { spanId }),
    details: index.details(row),
  };
}
