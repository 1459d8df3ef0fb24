import type { ThreadFigures } from '../report-shape.js';
import { processColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const LIMIT = 50;

const unlessZero = (value: number): number | null => (value > 0 ? value : null);

/** How busy each thread was. */
export function threadTable(threads: readonly ThreadFigures[]): ReportTable<ThreadFigures> {
  return tableOf<ThreadFigures>(
    [
      { title: 'thread', unit: 'text', value: ({ thread }) => thread, spare: 0, least: 12 },
      serviceColumn(2),
      processColumn(4),
      {
        title: 'kind',
        unit: 'text',
        value: ({ kind }) => (kind === 'thread' ? 'spans' : kind),
        spare: 6,
      },
      { title: 'records', unit: 'count', value: ({ spans }) => spans, spare: 3 },
      {
        title: 'active',
        explanation:
          'Share of the recorded time in which a span was open, or the state was running',
        unit: 'share',
        value: ({ share }) => share,
        spare: 0,
      },
      {
        title: 'loop busy',
        explanation: 'Share of time in which the event loop ran code',
        unit: 'share',
        value: ({ utilisation }) => utilisation,
        spare: 1,
      },
      {
        title: 'stalled',
        unit: 'duration',
        value: ({ stalls }) => unlessZero(stalls),
        spare: 1,
      },
      {
        title: 'gc',
        explanation: 'Garbage collections',
        unit: 'duration',
        value: ({ collections }) => unlessZero(collections),
        spare: 1,
      },
      { title: 'trace', unit: 'text', value: ({ path }) => path, spare: 5, least: 12 },
    ],
    threads,
    LIMIT,
    'threads',
  );
}
