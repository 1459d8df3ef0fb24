import { isBeforeAndAfter, likelySides, runsOf, servicesOf } from './recording-sides.js';
import type { SideSource } from './recording-sides.js';
import type { LookIndex } from '../index/look-index.js';
import type { RecordedTimes } from './recorded-times.js';
import type { EarlierAndLater } from './report-shape.js';

/** The paths of two recordings of the same services, one after the other; null: these are none. */
export function earlierAndLater(
  { sources }: LookIndex,
  times: RecordedTimes,
): EarlierAndLater | null {
  const described = sources
    .map(({ number, path, format, content, service }): SideSource => {
      const { begin, end } = times.ofSource(number);
      const about = service === undefined ? {} : { service };
      return { number, order: 0, path, format, content, ...about, begin, end };
    })
    .filter(({ begin, end }) => begin <= end)
    .sort((a, b) => a.begin - b.begin)
    .map((source, order) => ({ ...source, order }));
  const runs = runsOf(described);
  const sides = likelySides(described, runs);
  if (!isBeforeAndAfter(runs, sides)) return null;
  const [before, after] = [sides.before, sides.after].map((names) => {
    const own = runs.filter(({ name }) => names.includes(name));
    const numbers = new Set(own.flatMap((run) => run.sources));
    return {
      paths: [...new Set(own.map(({ path }) => path))],
      sources: described.filter(({ number }) => numbers.has(number)),
    };
  });
  const end = Math.max(...before!.sources.map((source) => source.end));
  const begin = Math.min(...after!.sources.map((source) => source.begin));
  if (end > begin || before!.paths.some((path) => after!.paths.includes(path))) return null;
  return { services: servicesOf(runs, sides.before), before: before!.paths, after: after!.paths };
}
