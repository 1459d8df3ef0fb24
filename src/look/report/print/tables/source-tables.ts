import { addToList } from '../../../../core/map-entries.js';
import type { Report, ReportedLoss, ReportSource } from '../../shape/report-shape.js';
import { endText, unusualStateText } from '../report-texts.js';
import { clockText } from '../../measures/units.js';
import { fieldColumn, processColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const SOURCES_LIMIT = 20;
const LOSSES_LIMIT = 30;

/** The traces of one process as one. */
function ofProcess(sources: readonly ReportSource[]): ReportSource {
  const [first] = sources;
  if (sources.length === 1) return first!;
  const joined = (texts: readonly string[]): string => [...new Set(texts)].join(', ');
  return {
    ...first!,
    format: joined(sources.map(({ format }) => format)),
    path: joined(sources.map(({ path }) => path)),
    rows: sources.reduce((sum, { rows }) => sum + rows, 0),
    state: sources.find(({ state }) => unusualStateText(state) !== '')?.state ?? first!.state,
    heapLimit: sources.find(({ heapLimit }) => heapLimit !== null)?.heapLimit ?? null,
    memoryEnd: sources.find(({ memoryEnd }) => memoryEnd !== null)?.memoryEnd ?? null,
  };
}

/** The traces of each process. One with threads of several is by itself. */
export function byProcess(sources: readonly ReportSource[]): ReportSource[] {
  const groups = new Map<number | string, ReportSource[]>();
  for (const source of sources) {
    const key = source.process ?? source.path;
    addToList(groups, key, source);
  }
  return [...groups.values()].map((group) =>
    // That of the spans says most of the process.
    ofProcess(group.toSorted((a, b) => Number(a.service === null) - Number(b.service === null))),
  );
}

/** The traces that were read, by process. */
export function sourceTable({ sources }: Pick<Report, 'sources'>): ReportTable<ReportSource> {
  return tableOf<ReportSource>(
    'Recordings',
    [
      fieldColumn('format', 'text', 0),
      serviceColumn(0),
      fieldColumn('host', 'text', 5, { least: 8 }),
      processColumn(2),
      {
        title: 'state',
        unit: 'text',
        value: (source) => endText(source) || null,
        spare: 1,
      },
      fieldColumn('until', 'time', 2, {
        title: 'complete to',
        explanation: 'The process lives: what it had recorded until then is there',
      }),
      {
        title: 'clock',
        explanation: 'What was added to its times, because the clock of its host differs',
        unit: 'text',
        value: ({ clockOffset, clockError }) => clockText(clockOffset, clockError) || null,
        spare: 3,
      },
      fieldColumn('rows', 'count', 4, { title: 'records' }),
      fieldColumn('path', 'text', 0, { title: 'recording', least: 16 }),
    ],
    byProcess(sources),
    SOURCES_LIMIT,
    'recordings',
  );
}

/** The table of losses: what was recorded and is not there, or cannot be read. */
export function lossTable({ losses }: Pick<Report, 'losses'>): ReportTable<ReportedLoss> {
  const areSeveral = new Set(losses.map(({ path }) => path)).size > 1;
  return tableOf<ReportedLoss>(
    'What was lost',
    [
      fieldColumn('reason', 'text', 0, {
        title: 'what',
        least: 40,
        isProse: true,
        isBad: () => true,
      }),
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
