import type { Route } from '../route.js';
import { chosenRows, conditionOf } from '../rows/chosen-rows.js';
import { errorTypes } from '../rows/error-types.js';

/** Why the spans failed that `where`, `from` and `to` leave. */
export const errorsRoute: Route = {
  path: '/data/errors',
  method: 'GET',
  async answer({ recording, query, signal }) {
    const condition = conditionOf(query);
    const { status = 'error' } = condition;
    const rows =
      status === 'error'
        ? await chosenRows(recording, { ...condition, status }, signal)
        : new Int32Array(0);
    return { json: await errorTypes(recording.index, rows, signal) };
  },
};
