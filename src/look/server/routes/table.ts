import type { TableColumns, TableMeta } from '../../wire/panel-answers.js';
import type { Recording } from '../recording.js';
import type { Route } from '../route.js';
import { chosenRows, conditionOf } from '../rows/chosen-rows.js';
import { SORT_KEYS, sortedRows } from '../rows/sorted-rows.js';
import { WrongQuestion } from '../wrong-question.js';

const MOST_ROWS = 1000;

/** A piece of the table of spans: `count` from place `first` on, sorted by `sort`, `descending` or not. */
export const tableRoute: Route = {
  path: '/data/table',
  method: 'GET',
  async answer({ recording, query, signal }) {
    const key = SORT_KEYS.find((each) => each === query.text('sort'));
    if (key === undefined) throw new WrongQuestion(`sort must be one of ${SORT_KEYS.join(', ')}`);
    const descending = query.text('descending') === 'true';
    const first = query.integer('first', 0, Number.MAX_SAFE_INTEGER);
    const count = query.integer('count', 0, MOST_ROWS);
    const known = query.integer('names', 0, Number.MAX_SAFE_INTEGER);
    const condition = conditionOf(query);
    const sorted = await sortedRows(recording, await chosenRows(recording, condition, signal), key);
    const total = sorted.length;
    const shown = new Int32Array(Math.max(0, Math.min(count, total - first)));
    for (let at = 0; at < shown.length; at++) {
      shown[at] = sorted[descending ? total - 1 - first - at : first + at]!;
    }
    const columns = columnsOf(recording, shown);
    const { texts } = recording.names;
    const meta: TableMeta = { total, firstName: known, names: texts.slice(known) };
    return { columns: { ...columns }, meta };
  },
};

function columnsOf({ index, names }: Recording, rows: Int32Array): TableColumns {
  const columns: TableColumns = {
    row: rows,
    start: new Float64Array(rows.length),
    duration: new Float64Array(rows.length),
    name: new Uint32Array(rows.length),
    source: new Uint32Array(rows.length),
    flags: new Uint8Array(rows.length),
  };
  for (const [place, row] of rows.entries()) {
    const part = index.partOf(row);
    const at = row - part.firstRow;
    columns.start[place] = part.start[at]! + part.offset;
    columns.duration[place] = part.duration[at]!;
    columns.name[place] = names.of(part, part.name[at]!);
    columns.source[place] = part.source.number;
    columns.flags[place] = part.flags[at]!;
  }
  return columns;
}
