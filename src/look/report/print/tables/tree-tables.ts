import { counted } from '../../../../core/readable-text.js';
import type { Report } from '../../shape/report-shape.js';
import type { OpenSpan, OpenSpans, SlowTrace, TreeRow } from '../../shape/trace-shape.js';
import {
  nameWithDetail,
  nameWithPath,
  nameWithTarget,
  ofService,
} from '../../names/request-name.js';
import { durationText } from '../../measures/units.js';
import { longestOfTree } from '../../trees/longest-of-tree.js';
import { fieldColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportColumn, ReportTable } from './report-table.js';

const LIMIT = 40;

/** `GET /orders/8 of shop: 122 ms` */
function traceTitle(trace: SlowTrace): string {
  const { service, duration } = trace;
  return `${nameWithPath(trace)}${ofService(service)}: ${durationText(duration)}`;
}

/** The remarks after the name of a row. */
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
export function traceTable(trace: SlowTrace): ReportTable<TreeRow> {
  const { rows, omitted } = trace;
  const shown = longestOfTree(rows, LIMIT);
  const prefixes = new Map(branches(shown).map((prefix, at) => [shown[at]!, prefix]));
  const areSeveral = new Set(rows.map(({ service }) => service)).size > 1;
  const table = tableOf<TreeRow>(
    traceTitle(trace),
    [
      fieldColumn('duration', 'duration', 0, { title: 'time' }),
      fieldColumn('self', 'duration', 2, { explanation: 'The time in which no child ran' }),
      fieldColumn('waited', 'duration', 1, {
        explanation: 'The time of the critical path that the span took itself',
      }),
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
  const all = rows.reduce((sum, row) => sum + row.repeated, omitted);
  const hidden = shown.reduce((rest, row) => rest - row.repeated, all);
  return { ...table, more: hidden, what: 'spans' };
}

/** Where a trace ends, in ns since its start: rows of called threads may lie after its own end. */
export function endOfTrace({ rows }: SlowTrace): number {
  return rows.reduce((end, row) => Math.max(end, row.start + row.duration), 1);
}

/** Deeper rows are indented no further. */
const MAX_INDENT = 12;

/** Branches in front of the names of a tree's rows, which come in the order of the tree. */
function branches(rows: readonly { depth: number }[]): string[] {
  const texts = new Array<string>(rows.length);
  /** Whether another row of this depth follows in the same branch. */
  const follows: boolean[] = [];
  for (let at = rows.length - 1; at >= 0; at--) {
    const { depth } = rows[at]!;
    const shown = Math.min(depth, MAX_INDENT);
    let text = '';
    for (let level = 1; level < shown; level++) text += follows[level] === true ? '│ ' : '  ';
    if (depth > MAX_INDENT) text += `(${depth}) `;
    else if (depth > 0) text += follows[depth] === true ? '├ ' : '└ ';
    texts[at] = text;
    follows.length = depth;
    follows[depth] = true;
  }
  return texts;
}

const OPEN_LIMIT = 30;
const WHEN: ReportColumn<OpenSpan> = {
  title: 'open',
  unit: 'text',
  value: ({ isNow }) => (isNow ? 'now' : 'at the end'),
  spare: 0,
};

/** `8 spans, 4 of them requests` */
function openText({ count, requests }: OpenSpans): string {
  const all = counted(count, 'span');
  if (requests === 0) return all;
  if (requests === count) return counted(requests, 'request');
  return `${all}, ${counted(requests, 'of them a request', 'of them requests')}`;
}

/** Of processes that live, they are open now. */
function whenOpen({ spans }: OpenSpans): 'now' | 'at the end' | 'now or at the end' {
  const now = spans.filter(({ isNow }) => isNow).length;
  if (now === 0) return 'at the end';
  return now === spans.length ? 'now' : 'now or at the end';
}

/** The table of open spans: each request, and below it what it was waiting for. */
export function openTable({ open }: Pick<Report, 'open'>): ReportTable<OpenSpan> {
  const { spans, omitted } = open;
  const when = whenOpen(open);
  const shown = spans.slice(0, OPEN_LIMIT);
  const prefixes = new Map(branches(shown).map((prefix, at) => [shown[at]!, prefix]));
  const table = tableOf<OpenSpan>(
    `Open ${when}: ${openText(open)}`,
    [
      fieldColumn('age', 'duration', 0, { title: 'open for' }),
      ...(when === 'now or at the end' ? [WHEN] : []),
      {
        title: 'span',
        unit: 'text',
        value: nameWithDetail,
        spare: 0,
        least: 36,
        prefix: (span) => prefixes.get(span)!,
      },
      serviceColumn(2),
      fieldColumn('thread', 'text', 4),
      fieldColumn('start', 'time', 3, { title: 'since' }),
      // With it one finds the request in a log.
      fieldColumn('traceId', 'text', 1, { title: 'trace' }),
    ],
    spans,
    OPEN_LIMIT,
    'rows',
  );
  return { ...table, more: table.more + omitted };
}

/** The same without what is below a span, unless all of it is so few rows. */
export function openTopTable(report: Pick<Report, 'open'>, most: number): ReportTable<OpenSpan> {
  const table = openTable(report);
  const { rows, more } = table;
  if (rows.length <= most) return table;
  const tops = rows.filter(({ depth }) => depth === 0);
  return { ...table, rows: tops, more: more + rows.length - tops.length };
}
