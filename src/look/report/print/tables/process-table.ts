import { counted } from '../../../../core/readable-text.js';
import type { Report, ReportSource } from '../../shape/report-shape.js';
import type { MemoryCurve } from '../../shape/thread-shape.js';
import { endText } from '../report-texts.js';
import { fieldColumn, processColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';
import { byProcess } from './source-tables.js';

const LIMIT = 20;

/** How the processes ended, those that did not end by themselves first. */
export function processTable({
  sources,
  memory,
}: Pick<Report, 'sources' | 'memory'>): ReportTable<ReportSource> {
  const processes = byProcess(sources).filter(({ format }) => format !== 'ovni');
  const isUnusual = (source: ReportSource): number => Number(endText(source) !== '');
  const rows = processes.toSorted((a, b) => isUnusual(b) - isUnusual(a));
  return tableOf<ReportSource>(
    `How ${counted(rows.length, 'process', 'processes')} ended`,
    [
      serviceColumn(0),
      processColumn(0),
      fieldColumn('host', 'text', 4, { least: 8 }),
      {
        title: 'ended',
        unit: 'text',
        value: (source) => endText(source) || 'by itself',
        spare: 0,
        isBad: ({ state, heapLimit }) =>
          state === 'died' || state === 'unfinished' || heapLimit !== null,
      },
      fieldColumn('recorded', 'duration', 1),
      memoryColumn('heap', 'last', 2, memory),
      memoryColumn('heap', 'max', 3, memory),
      memoryColumn('resident', 'last', 2, memory),
      memoryColumn('resident', 'max', 3, memory),
    ],
    rows,
    LIMIT,
    'processes',
  );
}

/** A figure of the memory of a process. */
function memoryColumn(
  kind: MemoryCurve['kind'],
  figure: 'last' | 'max',
  spare: number,
  memory: readonly MemoryCurve[],
): ReportTable<ReportSource>['columns'][number] {
  return {
    title: figure === 'last' ? kind : `max ${kind}`,
    explanation: figure === 'last' ? 'At the end' : 'The highest',
    unit: 'bytes',
    value: ({ pid, service }) =>
      memory.find((each) => each.kind === kind && each.pid === pid && each.service === service)?.[
        figure
      ] ?? null,
    spare,
  };
}
