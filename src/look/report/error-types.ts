import type { IndexPart, LookIndex } from '../index/look-index.js';
import type { Steps } from '../index/turns.js';
import { isError } from './groups.js';
import { recordedSpan } from './recorded-attributes.js';
import type { ErrorType, FailedSpans } from './report-shape.js';
import { SPAN } from './selection.js';
import type { RowSelection } from './selection.js';

/** Failed spans whose records are read: some tenth of a second. */
const MOST_READ = 1000;
/** Spans that are read in a step. */
const READ_A_STEP = 50;
const TYPE = 'error.type';

/**
 * Why spans failed: by type, name and service, the most frequent first. Of more than `MOST_READ` spans as many,
 * taken evenly.
 */
export function* errorTypes(selection: RowSelection): Steps<FailedSpans> {
  let count = 0;
  const failing: Int32Array[] = [];
  for (const part of selection.index.parts) {
    yield;
    const rows = failedRows(selection, part);
    count += rows.length;
    failing.push(rows);
  }
  const read = Math.min(count, MOST_READ);
  const types = new Map<string, ErrorType>();
  let place = 0;
  let done = 0;
  for (const rows of failing) {
    for (const row of rows) {
      if (place++ !== Math.floor((done * count) / read)) continue;
      add(types, describe(selection.index, row));
      if (++done % READ_A_STEP === 0) yield;
    }
  }
  return { count, read, types: [...types.values()].sort((a, b) => b.count - a.count) };
}

function failedRows(selection: RowSelection, part: IndexPart): Int32Array {
  const marks = selection.marksOf(part);
  if (marks.length === 0) return new Int32Array(0);
  const { flags, firstRow } = part;
  const rows: number[] = [];
  for (let at = 0; at < marks.length; at++) {
    if ((marks[at]! & SPAN) !== 0 && isError(flags[at]!)) rows.push(firstRow + at);
  }
  return Int32Array.from(rows);
}

function add(types: Map<string, ErrorType>, one: ErrorType): void {
  const key = JSON.stringify([one.type, one.name, one.service]);
  const known = types.get(key);
  if (known === undefined) types.set(key, one);
  else known.count += 1;
}

function describe(index: LookIndex, row: number): ErrorType {
  const part = index.partOf(row);
  const name = part.names.text(part.name[row - part.firstRow]!);
  const service = part.source.service ?? null;
  const span = recordedSpan(index, row);
  const attribute = span?.attributes[TYPE];
  const exception = span?.events.findLast((event) => event.name === 'exception');
  const type = attribute ?? exception?.attributes['exception.type'] ?? null;
  const where = [
    'status=error',
    `name=${name}`,
    ...(service === null ? [] : [`service=${service}`]),
    // Only attributes of a span can be searched for.
    ...(attribute == null ? [] : [`${TYPE}=${String(attribute)}`]),
  ];
  return { type: type === null ? null : String(type), name, service, count: 1, where };
}
