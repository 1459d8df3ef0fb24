import type { LookIndex } from '../../index/look-index.js';
import type { ServiceRuns } from '../shape/report-shape.js';
import { RecordedTimes } from './recorded-times.js';
import { runDirectory, serviceRuns } from './service-runs.js';

/** What to read of a directory with several runs of a service. */
interface NewestRuns {
  paths: string[];
  /** Services with runs that are over when their newest one begins: those, and the newest one last. */
  services: ServiceRuns[];
}

/** The newest run of each service, and those at the same time; undefined: no service has an earlier one. */
export function newestRuns(index: LookIndex): NewestRuns | undefined {
  const times = new RecordedTimes(index);
  const stretches = new Map<string, { begin: number; end: number }>();
  for (const { number, path } of index.sources) {
    const directory = runDirectory(path) ?? path;
    const { begin, end } = times.ofSource(number);
    const known = stretches.get(directory) ?? { begin, end };
    known.begin = Math.min(known.begin, begin);
    known.end = Math.max(known.end, end);
    stretches.set(directory, known);
  }
  const services = serviceRuns(index, times).flatMap(({ service, paths }) => {
    const newest = paths.at(-1)!;
    const { begin } = stretches.get(newest)!;
    const over = paths.filter((path) => stretches.get(path)!.end <= begin);
    return over.length === 0 ? [] : [{ service, paths: [...over, newest] }];
  });
  if (services.length === 0) return undefined;
  const left = new Set(services.flatMap(({ paths }) => paths.slice(0, -1)));
  return { paths: [...stretches.keys()].filter((path) => !left.has(path)), services };
}
