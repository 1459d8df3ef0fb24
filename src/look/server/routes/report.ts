import type { LookIndex } from '../../index/look-index.js';
import { makeReport } from '../../report/report.js';
import { MOST_OPEN } from '../../wire/panel-answers.js';
import type { ReportAnswer, ReportedRow } from '../../wire/panel-answers.js';
import type { Route } from '../route.js';
import { conditionOf } from '../rows/chosen-rows.js';

/** The report of `tracewright report --json`, of what `where`, `from` and `to` leave. */
export const reportRoute: Route = {
  path: '/data/report',
  method: 'GET',
  async answer({ recording: { index }, query }) {
    const slowest = query.integer('slowest', 0, 20);
    const condition = conditionOf(query);
    const { report, rows } = await makeReport(index, { condition, slowest });
    const reported = (row: number): ReportedRow => ({ row, start: startOf(index, row) });
    const rowOf = (traceId: string | null, name: string, duration: number): ReportedRow | null =>
      traceId === null ? null : rowOfTrace(index, traceId, name, duration);
    const json: ReportAnswer = {
      report,
      slowest: report.slowest.map((each) => rowOf(each.traceId, each.name, each.duration)),
      open: rows.open.slice(0, MOST_OPEN).map(reported),
      threads: rows.threads.map(reported),
      stalls: rows.stalls.map(reported),
    };
    return { json };
  },
};

/** The span of a trace with a name and, as nearly as one has it, a duration. */
function rowOfTrace(
  index: LookIndex,
  traceId: string,
  name: string,
  duration: number,
): ReportedRow | null {
  let best: ReportedRow | null = null;
  let difference = Infinity;
  for (const row of index.rowsOfTrace(traceId)) {
    const part = index.partOf(row);
    const at = row - part.firstRow;
    const off = Math.abs(part.duration[at]! - duration);
    if (off >= difference || part.names.text(part.name[at]!) !== name) continue;
    best = { row, start: startOf(index, row) };
    difference = off;
  }
  return best;
}

function startOf(index: LookIndex, row: number): number {
  const part = index.partOf(row);
  return part.start[row - part.firstRow]! + part.offset;
}
