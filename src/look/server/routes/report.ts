import { makeReport } from '../../report/report.js';
import type { Route } from '../route.js';
import { conditionOf } from '../rows/chosen-rows.js';

/** The report of `tracewright report --json`, of what `where`, `from` and `to` leave. */
export const reportRoute: Route = {
  path: '/data/report',
  method: 'GET',
  async answer({ recording, query }) {
    const slowest = query.integer('slowest', 0, 20);
    const condition = conditionOf(query);
    const { report } = await makeReport(recording.index, { condition, slowest });
    return { json: report };
  },
};
