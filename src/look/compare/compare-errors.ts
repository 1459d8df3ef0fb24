import { isError } from '../index/index-row.js';
import { rowsByPart } from '../index/parts/order-rows.js';
import { inTurns } from '../index/turns.js';
import { readErrors } from '../report/errors/error-types.js';
import type { ReadErrors } from '../report/errors/error-types.js';
import { haveCommonService } from './compare-groups.js';
import type { RowsOfSide } from './compare-groups.js';
import type { ComparedErrors, ComparedError } from './comparison-shape.js';

/** Failed spans of a side whose records are read, taken evenly. */
const MOST_READ = 100_000;

/**
 * Errors of both sides, by type, message and frame: what is new first, then what is gone. Lines and directories of
 * frames do not count, because they change with every release.
 */
export async function compareErrors(
  before: RowsOfSide,
  after: RowsOfSide,
): Promise<ComparedErrors> {
  const withService = haveCommonService(before, after);
  const first = await inTurns(readErrors(before.index, [failedRows(before)], MOST_READ));
  const second = await inTurns(readErrors(after.index, [failedRows(after)], MOST_READ));
  const found = new Map<string, ComparedError>();
  for (const [side, { count, read, groups }] of [
    ['after', second],
    ['before', first],
  ] as const) {
    for (const { key, error } of groups.described(withService)) {
      const known = found.get(key) ?? { ...error, before: 0, after: 0, change: null };
      known[side] += (error.count * count) / read;
      found.set(key, known);
    }
  }
  const types = [...found.values()].map((error): ComparedError => ({
    ...error,
    before: Math.round(error.before),
    after: Math.round(error.after),
    change: error.before === 0 ? 'new' : error.after === 0 ? 'gone' : null,
  }));
  const rank = ({ change }: ComparedError): number => ['new', 'gone', null].indexOf(change);
  types.sort((a, b) => rank(a) - rank(b) || b.after - a.after || b.before - a.before);
  return { before: sideOf(first), after: sideOf(second), types };
}

function sideOf({ count, read }: ReadErrors): ComparedErrors['before'] {
  return { count, read };
}

function failedRows({ index, rows, sources }: RowsOfSide): Int32Array {
  const failed: number[] = [];
  for (const { part, from, to } of rowsByPart(index.parts, rows)) {
    if (!sources.has(part.source.number)) continue;
    for (const row of rows.subarray(from, to)) {
      if (isError(part.flags[row - part.firstRow]!)) failed.push(row);
    }
  }
  return Int32Array.from(failed);
}
