import { counted } from '../../../../core/readable-text.js';
import type { Report, ReportSource } from '../../shape/report-shape.js';
import type { MemoryCurve } from '../../shape/thread-shape.js';
import { bytesText } from '../../measures/units.js';
import { endText, STATE_TEXTS } from '../report-texts.js';
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
        value: (source) => endText(source) || STATE_TEXTS[source.state],
        spare: 0,
        isBad: ({ state, heapLimit }) =>
          state === 'died' || state === 'unfinished' || heapLimit !== null,
      },
      fieldColumn('recorded', 'duration', 1),
      memoryColumn('heap', memory),
      memoryColumn('resident', memory),
    ],
    rows,
    LIMIT,
    'processes',
  );
}

/** The memory at the end, and the most: `48 MiB of 61 MiB`. */
function memoryColumn(
  kind: MemoryCurve['kind'],
  memory: readonly MemoryCurve[],
): ReportTable<ReportSource>['columns'][number] {
  return {
    title: kind === 'heap' ? 'heap at end, most' : 'resident at end, most',
    unit: 'text',
    value: ({ pid, service }) => {
      const curve = memory.find(
        (each) => each.kind === kind && each.pid === pid && each.service === service,
      );
      return curve === undefined ? null : `${bytesText(curve.last)}, ${bytesText(curve.max)}`;
    },
    spare: 2,
  };
}
