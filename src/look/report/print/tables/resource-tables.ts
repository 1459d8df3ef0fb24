import { counted } from '../../../../core/readable-text.js';
import type { MpiCall, MpiRun, PoolWaits, TimeShare } from '../../shape/report-shape.js';
import type {
  Allocations,
  MemoryCurve,
  ProfiledCode,
  ThreadFigures,
} from '../../shape/thread-shape.js';
import { functionText, ranText } from '../../names/code-text.js';
import { bytesText, shareText } from '../../measures/units.js';
import {
  fieldColumn,
  listColumn,
  processColumn,
  serviceColumn,
  tableOf,
  type ListItem,
  type ReportTable,
} from './report-table.js';

const LIMIT = 50;

const unlessZero = (value: number): number | null => (value > 0 ? value : null);

/** The code that ran, by the samples of a CPU profile. */
export function profileTable(profile: readonly ProfiledCode[]): ReportTable<ProfiledCode> {
  return tableOf<ProfiledCode>(
    'Code that ran, by samples',
    [
      { title: 'code', unit: 'text', value: ranText, spare: 0, least: 24 },
      serviceColumn(2),
      fieldColumn('share', 'share', 0),
      {
        title: 'of',
        explanation: 'Of whose samples it is a share',
        unit: 'text',
        value: ({ route }) => route ?? 'the whole service',
        spare: 0,
        least: 12,
      },
      fieldColumn('time', 'duration', 1),
      fieldColumn('samples', 'count', 2),
    ],
    profile,
    LIMIT,
    'functions',
  );
}

/** What was alive, by the code that had allocated it. */
export function allocationTable(allocations: readonly Allocations[]): ReportTable<Allocations> {
  return tableOf<Allocations>(
    'Memory alive at the end, by what allocated it',
    [
      { title: 'code', unit: 'text', value: functionText, spare: 0, least: 24 },
      serviceColumn(2),
      fieldColumn('share', 'share', 0),
      fieldColumn('bytes', 'bytes', 0),
      fieldColumn('objects', 'count', 2),
    ],
    allocations,
    LIMIT,
    'functions',
  );
}

/** How busy each thread was. */
export function threadTable(threads: readonly ThreadFigures[]): ReportTable<ThreadFigures> {
  return tableOf<ThreadFigures>(
    'Threads',
    [
      fieldColumn('thread', 'text', 0, { least: 12 }),
      serviceColumn(2),
      processColumn(4),
      {
        title: 'kind',
        unit: 'text',
        value: ({ kind }) => (kind === 'thread' ? 'spans' : kind),
        spare: 6,
      },
      fieldColumn('spans', 'count', 3, { title: 'records' }),
      fieldColumn('share', 'share', 0, {
        title: 'active',
        explanation:
          'Share of the recorded time in which a span was open, or the state was running',
      }),
      fieldColumn('utilisation', 'share', 1, {
        title: 'loop busy',
        explanation: 'Share of time in which the event loop ran code',
      }),
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
      fieldColumn('path', 'text', 5, { title: 'trace', least: 12 }),
    ],
    threads,
    LIMIT,
    'threads',
  );
}

const MEMORY_LIMIT = 20;
export const MEMORY_NAMES = {
  heap: 'heap',
  external: 'outside of the heap',
  resident: 'process, resident',
} as const satisfies Record<MemoryCurve['kind'], string>;

/** How memory went. */
export function memoryTable(memory: readonly MemoryCurve[]): ReportTable<MemoryCurve> {
  return tableOf<MemoryCurve>(
    'Memory',
    [
      { title: 'memory', unit: 'text', value: ({ kind }) => MEMORY_NAMES[kind], spare: 0 },
      fieldColumn('thread', 'text', 2, { least: 12 }),
      serviceColumn(3),
      processColumn(4),
      fieldColumn('first', 'bytes', 1, { title: 'at start' }),
      fieldColumn('last', 'bytes', 0, { title: 'at end' }),
      fieldColumn('max', 'bytes', 0, { title: 'highest' }),
      fieldColumn('limit', 'bytes', 2),
      {
        title: 'growth an hour',
        explanation: 'Growth in an hour, of the line through all points',
        unit: 'change',
        value: ({ hourly }) => (hourly === null ? null : growthText(hourly)),
        spare: 1,
      },
    ],
    memory,
    MEMORY_LIMIT,
    'curves',
  );
}

/** Bytes an hour: `+12 MiB`. */
export function growthText(bytes: number): string {
  return `${bytes < 0 ? '-' : '+'}${bytesText(Math.abs(bytes))}`;
}

const POOLS_LIMIT = 20;

/** Who waited for connections, and who held them meanwhile. */
export function poolTable(pools: readonly PoolWaits[]): ReportTable<PoolWaits> {
  return tableOf<PoolWaits>(
    'Waits for connections of pools',
    [
      fieldColumn('name', 'text', 0, { title: 'pool', least: 12 }),
      serviceColumn(3),
      fieldColumn('count', 'count', 2, { title: 'waits' }),
      fieldColumn('total', 'duration', 0),
      fieldColumn('max', 'duration', 2, { title: 'longest' }),
      listColumn('waited', ({ waited }) => sharesOf(waited), 0, {
        explanation: 'The requests that waited, by their time',
      }),
      listColumn('held by', ({ held }) => sharesOf(held), 0, {
        explanation: 'The requests that had the connections meanwhile, by their time',
      }),
    ],
    pools,
    POOLS_LIMIT,
    'pools',
  );
}

function sharesOf(shares: readonly TimeShare[]): ListItem[] {
  return shares.map(({ name, share }) => [name, shareText(share)]);
}

const CALLS_LIMIT = 50;

/** Calls of MPI by name. */
export function mpiTable({ calls, ranks, path }: MpiRun): ReportTable<MpiCall> {
  return tableOf<MpiCall>(
    `MPI calls of ${counted(ranks, 'rank')}, ${path}`,
    [
      fieldColumn('name', 'text', 0, { title: 'call', least: 16 }),
      fieldColumn('count', 'count', 0),
      fieldColumn('bytes', 'bytes', 0),
      fieldColumn('total', 'duration', 0),
      fieldColumn('p50', 'duration', 3),
      fieldColumn('p95', 'duration', 2),
      fieldColumn('max', 'duration', 1),
    ],
    calls,
    CALLS_LIMIT,
    'calls',
  );
}
