import { nameWithTarget } from '../../names/request-name.js';
import type { Callee, Report } from '../../shape/report-shape.js';
import { digits } from '../../measures/units.js';
import { fieldColumn, serviceColumn, tableOf } from './report-table.js';
import type { ReportTable } from './report-table.js';

const LIMIT = 50;

/** What requests call: statements of databases, services and queues. */
export function calleeTable({ callees }: Pick<Report, 'callees'>): ReportTable<Callee> {
  return tableOf<Callee>(
    'Callees, estimated from a part of the requests',
    [
      { title: 'callee', unit: 'text', value: nameWithTarget, spare: 0, least: 20 },
      serviceColumn(2),
      {
        title: 'calls/req',
        explanation: 'Calls a request, of the routes that call it',
        unit: 'number',
        value: ({ perRequest }) => digits(perRequest),
        spare: 0,
      },
      fieldColumn('count', 'count', 3, { title: 'calls' }),
      fieldColumn('total', 'duration', 0),
      fieldColumn('p95', 'duration', 1),
      { title: 'used by', unit: 'text', value: usersText, spare: 0, least: 24, isProse: true },
    ],
    callees,
    LIMIT,
    'callees',
  );
}

/** `GET /cart 40, GET /orders/:id 1`: with the calls a request. */
function usersText({ users }: Callee): string {
  return users.map(({ name, perRequest }) => `${name} ${digits(perRequest)}`).join(', ');
}
