import { addToList, entryOf } from '../../../core/map-entries.js';
import { IndexRow, rowsUpward } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { RowSelection } from '../measures/selection.js';
import type { CalleeName } from '../shape/report-shape.js';

/** Spans that are looked at: more would take too long. */
const MOST_SPANS = 1 << 18;
/** From a span up to its request. */
const MOST_ANCESTORS = 100;

/**
 * All spans of a name in a service, by the row of the request that each belongs to; undefined: there are too many, or
 * their records would have to be read for whom they asked.
 *
 * @param system default: any.
 */
export function spansOfRequests(
  selection: RowSelection,
  { name, system, target }: Partial<CalleeName>,
  service: string | null,
): Map<number, IndexRow[]> | undefined {
  const { index } = selection;
  const found = new Map<number, IndexRow[]>();
  /** By the row above a span, which often has many. */
  const requests = new Map<number, number | undefined>();
  if (typeof target === 'string') return undefined;
  let left = MOST_SPANS;
  for (const part of index.parts) {
    if ((part.source.service ?? null) !== service || !selection.mayHave(part)) continue;
    const { names, name: numbers, count } = part;
    const wanted = Array.from(
      { length: names.count },
      (_, number) =>
        names.text(number) === name &&
        (system === undefined || (names.system(number) ?? null) === system),
    );
    if (!wanted.includes(true)) continue;
    for (let at = 0; at < count; at++) {
      if (!wanted[numbers[at]!]) continue;
      if (left-- === 0) return undefined;
      const row = new IndexRow(part, at);
      const request = entryOf(requests, row.parent, () => requestOf(index, row));
      if (request !== undefined) addToList(found, request, row);
    }
  }
  return found;
}

/** The request above a span, in its own process; undefined: there is none. */
export function requestOf(index: LookIndex, { part, parent }: IndexRow): number | undefined {
  for (const above of rowsUpward(index, parent, MOST_ANCESTORS)) {
    if (above.part.source !== part.source) return undefined;
    if (above.isRequest) return above.row;
  }
  return undefined;
}
