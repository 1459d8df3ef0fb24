import { counted } from '../../../core/counted.js';
import type { MpiCall, MpiRun } from '../report-shape.js';
import { tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const LIMIT = 50;

export function mpiTitle({ ranks, path }: MpiRun): string {
  return `MPI calls of ${counted(ranks, 'rank')}, ${path}`;
}

/** Calls of MPI by name. */
export function mpiTable({ calls }: MpiRun): ReportTable<MpiCall> {
  return tableOf<MpiCall>(
    [
      { title: 'call', unit: 'text', value: ({ name }) => name, spare: 0, least: 16 },
      { title: 'count', unit: 'count', value: ({ count }) => count, spare: 0 },
      { title: 'bytes', unit: 'bytes', value: ({ bytes }) => bytes, spare: 0 },
      { title: 'total', unit: 'duration', value: ({ total }) => total, spare: 0 },
      { title: 'p50', unit: 'duration', value: ({ p50 }) => p50, spare: 3 },
      { title: 'p95', unit: 'duration', value: ({ p95 }) => p95, spare: 2 },
      { title: 'max', unit: 'duration', value: ({ max }) => max, spare: 1 },
    ],
    calls,
    LIMIT,
    'calls',
  );
}
