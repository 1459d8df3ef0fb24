import { entryOf } from '../../../core/map-entries.js';
import { rowsUpward } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex, Profile } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { spanName } from '../names/row-name.js';

/** Spans above a sample's that are looked at. */
const MOST_ABOVE = 64;

/** Rows of spans by the words of their ids, of those that are asked for. */
export function* rowsOfSpans(
  index: LookIndex,
  ids: ReadonlySet<string>,
): Steps<Map<string, number>> {
  const wanted = new Map<number, Map<number, string>>();
  for (const id of ids) {
    const [high, low] = [id.slice(0, 8), id.slice(8)].map((word) => Number.parseInt(word, 16));
    entryOf(wanted, high!, () => new Map<number, string>()).set(low!, id);
  }
  const rows = new Map<string, number>();
  for (const { spanId, firstRow, count } of index.parts) {
    yield;
    for (let at = 0; at < count; at++) {
      const id = wanted.get(spanId[2 * at]!)?.get(spanId[2 * at + 1]!);
      if (id !== undefined) rows.set(id, firstRow + at);
    }
  }
  return rows;
}

/** A request whose code was sampled, and its name and route. */
export interface SampledRequest {
  row: IndexRow;
  route: string;
}

/** The request that a sample was of, by the id of the span that was active; undefined: none is recorded. */
export type RequestOfSample = (spanId: string) => SampledRequest | undefined;

/** The request that a span belongs to; undefined: none is recorded. */
function requestAbove(index: LookIndex, row: number | undefined): SampledRequest | undefined {
  if (row === undefined) return undefined;
  let request: IndexRow | undefined;
  const { source } = index.partOf(row);
  for (const above of rowsUpward(index, row, MOST_ABOVE)) {
    if (above.part.source.number === source.number && above.isRequest) request = above;
  }
  return request && { row: request, route: spanName(request) };
}

/** Finds the requests of samples. */
export function* requestsOfSamples(
  index: LookIndex,
  profiles: readonly Profile[],
): Steps<RequestOfSample> {
  const ids = new Set(profiles.flatMap(({ part }) => part.spans));
  if (ids.size === 0) return () => undefined;
  const rows = yield* rowsOfSpans(index, ids);
  const known = new Map<string, SampledRequest | undefined>();
  return (id) => {
    if (!known.has(id)) known.set(id, requestAbove(index, rows.get(id)));
    return known.get(id);
  };
}
