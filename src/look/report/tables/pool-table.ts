import type { PoolWaits, TimeShare } from '../report-shape.js';
import { shareText } from '../units.js';
import { serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const LIMIT = 20;

export const POOLS_TITLE = 'Waits for connections of pools';

/** Who waited for connections, and who held them meanwhile. */
export function poolTable(pools: readonly PoolWaits[]): ReportTable<PoolWaits> {
  return tableOf<PoolWaits>(
    [
      { title: 'pool', unit: 'text', value: ({ name }) => name, spare: 0, least: 12 },
      serviceColumn(3),
      { title: 'waits', unit: 'count', value: ({ count }) => count, spare: 2 },
      { title: 'total', unit: 'duration', value: ({ total }) => total, spare: 0 },
      { title: 'longest', unit: 'duration', value: ({ max }) => max, spare: 2 },
      {
        title: 'waited',
        explanation: 'The requests that waited, by their time',
        unit: 'text',
        value: ({ waited }) => sharesText(waited),
        spare: 0,
        least: 20,
      },
      {
        title: 'held by',
        explanation: 'The requests that had the connections meanwhile, by their time',
        unit: 'text',
        value: ({ held }) => sharesText(held),
        spare: 0,
        least: 20,
      },
    ],
    pools,
    LIMIT,
    'pools',
  );
}

function sharesText(shares: readonly TimeShare[]): string | null {
  const texts = shares.map(({ name, share }) => `${name} ${shareText(share)}`);
  return texts.length === 0 ? null : texts.join(', ');
}
