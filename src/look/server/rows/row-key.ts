import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import { type Query, WrongQuestion } from '../route.js';

/** Its start in ns; then the span's id, or the track of a row that is no span. */
const KEY = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:_([0-9a-f]{16})|_t(\d{1,10}))?$/;

/** A key that finds a row again after a refresh, which may give it another number. */
export function keyOfRow(index: LookIndex, row: number): string {
  const { start, spanId, track } = rowAt(index, row);
  return `${start}_${spanId ?? `t${track}`}`;
}

/**
 * The row of a question: `row`, or where `key` says otherwise the row that has this number now.
 *
 * @throws WrongQuestion if there is none.
 */
export function rowOfQuestion(index: LookIndex, query: Query): number {
  const key = query.text('key');
  if (key === undefined) return query.integer('row', 0, index.rows - 1);
  const [, start, spanId, track] = KEY.exec(key) ?? [];
  if (start === undefined) throw new WrongQuestion(`key is none: ${JSON.stringify(key)}`);
  const row = query.integer('row', 0, 2 ** 31);
  const isIt = (each: number): boolean => {
    const own = rowAt(index, each);
    return (
      own.start === Number(start) &&
      (spanId === undefined || spanId === own.spanId) &&
      (track === undefined || Number(track) === own.track)
    );
  };
  if (row < index.rows && isIt(row)) return row;
  for (const part of index.parts) {
    const { firstRow, count, start: starts, offset } = part;
    // What was added may have been rounded: a little earlier, then as it is compared.
    const first = Math.max(0, firstAtLeast(starts, Number(start) - offset) - 1);
    for (let at = first; at < count && starts[at]! + offset <= Number(start); at++) {
      if (isIt(firstRow + at)) return firstRow + at;
    }
  }
  throw new WrongQuestion('the row is no longer in the recording: its trace has changed', 404);
}
