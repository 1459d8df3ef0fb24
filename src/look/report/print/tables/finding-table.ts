import type { Finding } from '../../shape/finding-shape.js';
import type { Report } from '../../shape/report-shape.js';
import { PREFIX } from '../report-texts.js';
import { fieldColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const LIMIT = 7;

/** What a finding stands on, and where to go on: `99 of 1,212 requests (trace c3d44fbd, section errors)`. */
export function furtherText({ evidence, trace, section }: Finding): string {
  const next = [
    ...(trace === null ? [] : [`trace ${trace.slice(0, PREFIX)}`]),
    ...(section === null ? [] : [`section ${section}`]),
  ];
  return next.length === 0 ? evidence : `${evidence} (${next.join(', ')})`;
}

/** What is wrong, the worst first. */
export function findingTable({ findings }: Pick<Report, 'findings'>): ReportTable<Finding> {
  return tableOf<Finding>(
    'Findings',
    [
      fieldColumn('text', 'text', 0, { title: 'what', isProse: true, isBad: () => true }),
      { title: 'evidence', unit: 'text', value: furtherText, spare: 1, isProse: true },
    ],
    findings,
    LIMIT,
    'findings',
  );
}
