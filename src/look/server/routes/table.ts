import { rowAt, rowsUpward } from '../../index/index-row.js';
import { spanName } from '../../report/names/row-name.js';
import type { Condition } from '../../index/look-index.js';
import type { TableColumns, TableMeta } from '../../wire/view-answers.js';
import { WrongQuestion } from '../route.js';
import type { Route } from '../route.js';
import type { Recording } from '../recording.js';
import {
  chosenRows,
  conditionOf,
  countSpans,
  isEverySpan,
  knownRows,
} from '../rows/chosen-rows.js';
import { MOST_FIRST_ROWS, firstRows } from '../rows/first-rows.js';
import { listedParts } from '../rows/listed-parts.js';
import { SORT_KEYS } from '../rows/sort-keys.js';
import type { SortKey } from '../rows/sort-keys.js';
import { knownOrder, sortedRows } from '../rows/sorted-rows.js';

const MOST_ROWS = 1000;
/** Time in which the first rows are drawn, and in which another order may be asked for. */
const SORT_AFTER_MS = 200;

/**
 * A piece of the table of spans: `count` from number `first` on, sorted by `sort`, `descending` or not; with
 * `states` of threads, too.
 */
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
    const condition = await conditionOf(recording.index, query);
    const states = query.text('states') === 'true';
    const piece = { key, descending, first, count, states };
    const { rows, total } = await rowsOf(recording, condition, piece, signal);
    const columns = columnsOf(recording, rows);
    const { texts } = recording.names;
    const requests = Array.from(rows, (row) => requestOf(recording, row));
    const traces = Array.from(rows, (row) => rowAt(recording.index, row).traceId);
    const meta: TableMeta = {
      requests,
      traces,
      total,
      firstName: known,
      names: texts.slice(known),
    };
    return { columns: { ...columns }, meta };
  },
};

/** Spans between a request and what it did. */
const MOST_ABOVE = 100;

/** The first request above a row, with its route; null: there is none, or the row is it. */
function requestOf({ index }: Recording, row: number): string | null {
  let first: string | null = null;
  for (const above of rowsUpward(index, row, MOST_ABOVE)) {
    if (above.isRequest && above.row !== row) first = spanName(above);
  }
  return first;
}

interface Piece {
  key: SortKey;
  descending: boolean;
  first: number;
  count: number;
  states: boolean;
}

/** The first rows do not wait for the order of all. */
async function rowsOf(
  recording: Recording,
  condition: Condition,
  { key, descending, first, count, states }: Piece,
  signal: AbortSignal,
): Promise<{ rows: Int32Array; total: number }> {
  const isBegin = first + count <= MOST_FIRST_ROWS;
  let chosen = knownRows(recording, condition, states);
  if (chosen === undefined && !(isBegin && isEverySpan(condition))) {
    chosen = await chosenRows(recording, condition, signal, states);
  }
  const total = chosen?.length ?? countSpans(recording, states);
  const size = Math.max(0, Math.min(count, total - first));
  if (isBegin && (chosen === undefined || knownOrder(chosen, key) === undefined)) {
    const parts = listedParts(recording.index, states);
    const begin = firstRows(recording, chosen, key, descending, first + size, parts);
    sortLater(recording, condition, key, states);
    return { rows: begin.subarray(first), total };
  }
  chosen ??= await chosenRows(recording, condition, signal, states);
  const sorted = await sortedRows(recording, chosen, key);
  const rows = new Int32Array(size);
  for (let at = 0; at < size; at++) {
    rows[at] = sorted[descending ? total - 1 - first - at : first + at]!;
  }
  return { rows, total };
}

/** The first rows may be scrolled on. */
function sortLater(
  recording: Recording,
  condition: Condition,
  key: SortKey,
  states: boolean,
): void {
  const { revision } = recording;
  const sort = async (): Promise<void> => {
    if (recording.revision !== revision) return;
    const { signal } = new AbortController();
    const rows = await chosenRows(recording, condition, signal, states);
    await sortedRows(recording, rows, key);
  };
  // If it fails, it fails again for the request that needs it.
  setTimeout(() => void recording.answer(sort).catch(() => undefined), SORT_AFTER_MS).unref();
}

function columnsOf({ index, names }: Recording, rows: Int32Array): TableColumns {
  const columns: TableColumns = {
    row: rows,
    start: new Float64Array(rows.length),
    duration: new Float64Array(rows.length),
    name: new Uint32Array(rows.length),
    source: new Uint32Array(rows.length),
    flags: new Uint8Array(rows.length),
  };
  for (const [line, row] of rows.entries()) {
    const { part, at, start, duration, flags } = rowAt(index, row);
    columns.start[line] = start;
    columns.duration[line] = duration;
    columns.name[line] = names.of(part, part.name[at]!);
    columns.source[line] = part.source.number;
    columns.flags[line] = flags;
  }
  return columns;
}
