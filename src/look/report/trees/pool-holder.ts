import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { RecordedLink } from '../../../spans/span-record.js';
import { recordedSpan } from '../names/recorded-attributes.js';
import { rowName } from '../names/row-name.js';
import type { PoolHolder } from '../shape/trace-shape.js';

/** Of the link to the span that had the connection: for how many ns it had had it. */
export const HELD = 'tracewright.pool.held';
/** From a span up to its request. */
const MOST_ANCESTORS = 100;

/** The link of a wait for a pool to the span that had the connection; undefined: it is not known. */
export function linkToHolder(index: LookIndex, row: number): RecordedLink | undefined {
  return recordedSpan(index, row)?.links.find(({ attributes }) => HELD in attributes);
}

/** Who had the connection that a row waited for; null: it is not known. */
export function holderOf(index: LookIndex, row: number): PoolHolder | null {
  const link = linkToHolder(index, row);
  if (link === undefined) return null;
  const { traceId, spanId, attributes } = link;
  const holder = index.rowsOfTrace(traceId).find((each) => rowAt(index, each).spanId === spanId);
  const name = holder === undefined ? null : requestAbove(index, holder);
  return { name, traceId, time: Number(attributes[HELD]) };
}

/** The name of the request that a span belongs to; else of the span at the top, in its process. */
export function requestAbove(index: LookIndex, row: number): string {
  let top = rowAt(index, row);
  for (let steps = 0; steps < MOST_ANCESTORS && !top.isRequest && top.parent >= 0; steps++) {
    const above = rowAt(index, top.parent);
    if (above.part.source !== top.part.source) break;
    top = above;
  }
  return rowName(index, top.row);
}
