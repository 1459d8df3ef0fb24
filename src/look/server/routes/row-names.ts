import { rowName } from '../../report/row-name.js';
import { MOST_ROW_NAMES } from '../../wire/answers.js';
import type { RowNamesAnswer } from '../../wire/answers.js';
import type { Route } from '../route.js';

/** What single rows are called: `rows` as `0-3,7`. A request has its path, and a call its target, which its name may lack. */
export const rowNamesRoute: Route = {
  path: '/data/row-names',
  method: 'GET',
  answer({ recording: { index }, query }) {
    const rows = query.integers('rows', index.rows, MOST_ROW_NAMES);
    const names = rows.map((row) => {
      const part = index.partOf(row);
      const start = part.start[row - part.firstRow]! + part.offset;
      return { start, name: rowName(index, row) };
    });
    const json: RowNamesAnswer = { names };
    return { json };
  },
};
