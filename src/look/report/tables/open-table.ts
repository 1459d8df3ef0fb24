import { counted } from '../../../core/counted.js';
import type { OpenSpan, OpenSpans, Report } from '../report-shape.js';
import { nameWithDetail } from '../request-name.js';
import { serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';
import { branches } from './tree-branches.js';

const LIMIT = 30;

/** `8 spans, 4 of them requests` */
function openText({ count, requests }: OpenSpans): string {
  const all = counted(count, 'span');
  if (requests === 0) return all;
  if (requests === count) return counted(requests, 'request');
  return `${all}, ${counted(requests, 'of them a request', 'of them requests')}`;
}

/** Of processes that live, they are open now. */
export function openTitle({ open, sources }: Pick<Report, 'open' | 'sources'>): string {
  const isNow = sources.some(({ until }) => until !== null);
  return `Open ${isNow ? 'now' : 'at the end'}: ${openText(open)}`;
}

/** What had not ended: each request, and below it what it was waiting for. */
export function openTable({ spans, omitted }: OpenSpans): ReportTable<OpenSpan> {
  const shown = spans.slice(0, LIMIT);
  const prefixes = new Map(branches(shown).map((prefix, at) => [shown[at]!, prefix]));
  const table = tableOf<OpenSpan>(
    [
      { title: 'open for', unit: 'duration', value: ({ age }) => age, spare: 0 },
      {
        title: 'span',
        unit: 'text',
        value: nameWithDetail,
        spare: 0,
        least: 16,
        prefix: (span) => prefixes.get(span)!,
      },
      serviceColumn(2),
      { title: 'thread', unit: 'text', value: ({ thread }) => thread, spare: 3 },
      { title: 'since', unit: 'time', value: ({ start }) => start, spare: 1 },
      { title: 'trace', unit: 'text', value: ({ traceId }) => traceId, spare: 4 },
    ],
    spans,
    LIMIT,
    'open spans',
  );
  return { ...table, more: table.more + omitted };
}
