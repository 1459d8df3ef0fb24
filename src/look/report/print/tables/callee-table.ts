import { nameWithTarget } from '../../names/request-name.js';
import type { Callee, Report } from '../../shape/report-shape.js';
import { countText, digits, roughly } from '../../measures/units.js';
import { fieldColumn, listColumn, serviceColumn, tableOf } from './report-table.js';
import type { ListItem, ReportTable } from './report-table.js';

const LIMIT = 50;

/** What requests call: statements of databases, services and queues. */
export function calleeTable({ callees }: Pick<Report, 'callees'>): ReportTable<Callee> {
  return tableOf<Callee>(
    callees.some(({ isEstimate }) => isEstimate)
      ? 'Callees, estimated from a part of the requests'
      : 'Callees',
    [
      { title: 'callee', unit: 'text', value: nameWithTarget, spare: 0, least: 20 },
      serviceColumn(2),
      {
        title: 'calls/req',
        explanation: 'Calls a request, of the routes that call it',
        unit: 'number',
        value: (callee) => digits(estimated(callee, callee.perRequest)),
        spare: 0,
      },
      {
        title: 'calls',
        unit: 'number',
        value: (callee) =>
          `${callee.isEstimate ? 'about ' : ''}${countText(estimated(callee, callee.count))}`,
        spare: 3,
      },
      fieldColumn('total', 'duration', 0, {
        explanation: 'The time in which an event loop was blocked is in it',
        value: (callee) => estimated(callee, callee.total),
      }),
      fieldColumn('p95', 'duration', 1, { value: (callee) => estimated(callee, callee.p95) }),
      listColumn('used by', usersOf, 0),
    ],
    callees,
    LIMIT,
    'callees',
  );
}

/** An estimate has no more figures than it can. */
function estimated({ isEstimate }: Callee, value: number): number {
  return isEstimate ? roughly(value) : value;
}

/** `GET /cart 40, GET /orders/:id 1`: with the calls a request. */
function usersOf(callee: Callee): ListItem[] {
  return callee.users.map(({ name, perRequest }) => [name, digits(estimated(callee, perRequest))]);
}
