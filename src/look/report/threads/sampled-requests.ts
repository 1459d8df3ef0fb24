import { entryOf } from '../../../core/map-entries.js';
import { rowsUpward } from '../../index/index-row.js';
import type { LookIndex, Profile } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { spanName } from '../names/row-name.js';

/** Spans above a sample's that are looked at. */
const MOST_ABOVE = 64;

/** Rows of spans by the words of their ids, of those that are asked for. */
function* rowsOfSpans(index: LookIndex, ids: ReadonlySet<string>): Steps<Map<string, number>> {
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

/** The request that a span belongs to, by its name and route; undefined: none is recorded. */
function routeOf(index: LookIndex, row: number | undefined): string | undefined {
  if (row === undefined) return undefined;
  let route: string | undefined;
  const { source } = index.partOf(row);
  for (const above of rowsUpward(index, row, MOST_ABOVE)) {
    if (above.part.source.number === source.number && above.isRequest) route = spanName(above);
  }
  return route;
}

/**
 * What the requests of samples are named, by the ids of the spans that were active; undefined: the span is not recorded,
 * or below no request.
 */
export function* requestsOfSamples(
  index: LookIndex,
  profiles: readonly Profile[],
): Steps<(spanId: string) => string | undefined> {
  const ids = new Set(profiles.flatMap(({ part }) => part.spans));
  const rows = yield* rowsOfSpans(index, ids);
  const routes = new Map<string, string | undefined>();
  return (id) => {
    if (!routes.has(id)) routes.set(id, routeOf(index, rows.get(id)));
    return routes.get(id);
  };
}
