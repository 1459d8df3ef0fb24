import { nameWithPath } from '../../report/request-name.js';
import { requestPath } from '../../report/request-path.js';
import { MOST_ROW_NAMES } from '../../wire/answers.js';
import type { RowNamesAnswer } from '../../wire/answers.js';
import type { Route } from '../route.js';

/** What single rows are called: `rows` as `0-3,7`. A request has its path, which its name may lack. */
export const rowNamesRoute: Route = {
  path: '/data/row-names',
  method: 'GET',
  answer({ recording: { index }, query }) {
    const rows = query.integers('rows', index.rows, MOST_ROW_NAMES);
    const names = rows.map((row) => {
      const part = index.partOf(row);
      const at = row - part.firstRow;
      const name = part.names.text(part.name[at]!);
      return {
        start: part.start[at]! + part.offset,
        name: nameWithPath({ name, path: requestPath(index, row) }),
      };
    });
    const json: RowNamesAnswer = { names };
    return { json };
  },
};
