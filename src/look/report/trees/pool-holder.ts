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
/** Holders of one wait that are followed. */
const MOST_HOLDERS = 4;
/** Between the end of a wait and the moment since when its span had the connection, in ns. */
export const SAME_MOMENT = 1e6;

/** The link of a wait for a pool to the span that had the connection; undefined: it is not known. */
export function linkToHolder(index: LookIndex, row: number): RecordedLink | undefined {
  return recordedSpan(index, row)?.links.find(({ attributes }) => HELD in attributes);
}

/** Who had the connection that a row waited for, the last one, and who before it; null: it is not known. */
export function holderOf(
  index: LookIndex,
  row: number,
  begin = rowAt(index, row).start,
  most = MOST_HOLDERS,
): PoolHolder | null {
  const link = linkToHolder(index, row);
  if (link === undefined) return null;
  const { traceId, spanId, attributes } = link;
  const time = Number(attributes[HELD]);
  const { name: pool, end } = rowAt(index, row);
  const rows = index.rowsOfTrace(traceId);
  const holder = rows.find((each) => rowAt(index, each).spanId === spanId);
  const since = end - time;
  const isItsWait = (each: number): boolean => {
    const own = rowAt(index, each);
    return own.parent === holder && own.name === pool && Math.abs(own.end - since) < SAME_MOMENT;
  };
  const wait = since > begin && most > 1 ? rows.find(isItsWait) : undefined;
  return {
    name: holder === undefined ? null : requestAbove(index, holder),
    traceId,
    time,
    before: wait === undefined ? null : holderOf(index, wait, begin, most - 1),
  };
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
