import type { SlowTrace, TreeRow } from '../report-shape.js';
import { nameWithPath, nameWithTarget } from '../request-name.js';
import { durationText } from '../units.js';
import { serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';
import { branches } from './tree-branches.js';

const LIMIT = 40;

/** `GET /orders/8 of shop: 122 ms` */
export function traceTitle(trace: SlowTrace): string {
  const { service, duration } = trace;
  return `${nameWithPath(trace)}${service === null ? '' : ` of ${service}`}: ${durationText(duration)}`;
}

/** What is added to the name of a row. */
function remarksOn(row: TreeRow): string {
  const remarks = [
    row.repeated > 1 ? `${row.repeated} times` : '',
    row.status === 'error' ? 'error' : '',
    row.unfinished ? 'unfinished' : '',
    row.missingParent ? 'its parent is missing' : '',
    // At the top it is said of the whole trace.
    row.depth > 0 && row.stalls > 0 ? `${durationText(row.stalls)} blocked` : '',
    row.depth > 0 && row.collections > 0 ? `${durationText(row.collections)} gc` : '',
  ].filter((remark) => remark !== '');
  return remarks.length === 0 ? '' : ` (${remarks.join(', ')})`;
}

/** The tree of a trace. */
export function traceTable({ rows, omitted }: SlowTrace): ReportTable<TreeRow> {
  const shown = rows.slice(0, LIMIT);
  const prefixes = new Map(branches(shown).map((prefix, at) => [shown[at]!, prefix]));
  const areSeveral = new Set(rows.map(({ service }) => service)).size > 1;
  const { columns } = tableOf<TreeRow>(
    [
      { title: 'time', unit: 'duration', value: ({ duration }) => duration, spare: 0 },
      {
        title: 'self',
        explanation: 'The time in which no child ran',
        unit: 'duration',
        value: ({ self }) => self,
        spare: 2,
      },
      {
        title: 'waited',
        explanation: 'The time of the critical path that the span took itself',
        unit: 'duration',
        value: ({ waited }) => waited,
        spare: 1,
      },
      {
        title: 'span',
        unit: 'text',
        value: (row) => nameWithTarget(row) + remarksOn(row),
        spare: 0,
        least: 16,
        prefix: (row) => prefixes.get(row)!,
        isBad: ({ status }) => status === 'error',
      },
      ...(areSeveral ? [serviceColumn<TreeRow>(3)] : []),
    ],
    shown,
    LIMIT,
    'spans',
  );
  const hidden = rows.slice(LIMIT).reduce((sum, row) => sum + row.repeated, omitted);
  return { columns, rows: shown, more: hidden, what: hidden === 1 ? 'span' : 'spans' };
}

/** Where a trace ends, in ns since its start: rows of called threads may lie after its own end. */
export function endOfTrace({ rows }: SlowTrace): number {
  return rows.reduce((end, row) => Math.max(end, row.start + row.duration), 1);
}
