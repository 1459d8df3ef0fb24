import type { Report, ReportedLoss, ReportSource } from '../report-shape.js';
import { unusualStateText } from '../state-texts.js';
import { clockText } from '../units.js';
import { processColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const SOURCES_LIMIT = 20;
const LOSSES_LIMIT = 30;

/** The traces that were read. */
export function sourceTable({ sources }: Pick<Report, 'sources'>): ReportTable<ReportSource> {
  return tableOf<ReportSource>(
    [
      { title: 'format', unit: 'text', value: ({ format }) => format, spare: 0 },
      serviceColumn(0),
      { title: 'host', unit: 'text', value: ({ host }) => host, spare: 5, least: 8 },
      processColumn(2),
      {
        title: 'state',
        unit: 'text',
        value: ({ state }) => unusualStateText(state) || null,
        spare: 1,
      },
      {
        title: 'complete to',
        explanation: 'The process lives: what it had recorded until then is there',
        unit: 'time',
        value: ({ until }) => until,
        spare: 2,
      },
      {
        title: 'clock',
        explanation: 'What was added to its times, because the clock of its host differs',
        unit: 'text',
        value: ({ clockOffset, clockError }) => clockText(clockOffset, clockError) || null,
        spare: 3,
      },
      { title: 'records', unit: 'count', value: ({ rows }) => rows, spare: 4 },
      { title: 'recording', unit: 'text', value: ({ path }) => path, spare: 0, least: 16 },
    ],
    sources,
    SOURCES_LIMIT,
    'recordings',
  );
}

/** What was recorded and is not there, or cannot be read. */
export function lossTable({ losses }: Pick<Report, 'losses'>): ReportTable<ReportedLoss> {
  const areSeveral = new Set(losses.map(({ path }) => path)).size > 1;
  return tableOf<ReportedLoss>(
    [
      {
        title: 'what',
        unit: 'text',
        value: ({ reason }) => reason,
        spare: 0,
        least: 40,
        isBad: () => true,
      },
      {
        title: 'recording',
        unit: 'text',
        value: ({ path }) => (areSeveral ? path : null),
        spare: 1,
        least: 16,
      },
    ],
    losses,
    LOSSES_LIMIT,
    'losses',
  );
}
