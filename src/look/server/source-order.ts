import { resolve, sep } from 'node:path';
import type { Source } from '../index/look-index.js';

/** The order in which sources are shown: as their paths were given, then by their beginning. */
export function sourceOrder(
  sources: readonly Source[],
  paths: readonly string[],
): Map<Source, number> {
  const given = paths.map((path) => resolve(path));
  const placeOf = ({ path }: Source): number => {
    const own = resolve(path);
    const place = given.findIndex((each) => own === each || own.startsWith(each + sep));
    return place === -1 ? given.length : place;
  };
  const placed = sources.map((source) => ({ source, place: placeOf(source) }));
  placed.sort(
    (a, b) =>
      a.place - b.place ||
      Number(a.source.epoch - b.source.epoch) ||
      a.source.number - b.source.number,
  );
  return new Map(placed.map(({ source }, order) => [source, order]));
}
