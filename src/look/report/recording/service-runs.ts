import { isAbsolute, relative } from 'node:path';
import { runOf, sharedServices } from '../../../traces/run-directory.js';
import type { LookIndex } from '../../index/look-index.js';
import type { ServiceRuns } from '../shape/report-shape.js';

/** The directory of the run of a trace, as its path is; undefined: it is of none. */
export function runDirectory(path: string): string | undefined {
  const run = runOf(path);
  if (run === undefined || isAbsolute(path)) return run;
  return relative('', run) || '.';
}

/** Services that several runs of the register hook have recorded, with the runs' directories, the first one first. */
export function serviceRuns(
  { sources }: Pick<LookIndex, 'sources'>,
  times: { ofSource(number: number): { begin: number } },
): ServiceRuns[] {
  const runs = new Map<string, Map<string, number>>();
  // Their programs are no runs of one service.
  const shared = sharedServices(sources);
  for (const { number, path, service } of sources) {
    const directory = runDirectory(path);
    if (service === undefined || directory === undefined || shared.has(service)) continue;
    const begins = runs.get(service) ?? new Map<string, number>();
    runs.set(service, begins);
    const { begin } = times.ofSource(number);
    begins.set(directory, Math.min(begin, begins.get(directory) ?? Infinity));
  }
  return [...runs]
    .filter(([, begins]) => begins.size > 1)
    .map(([service, begins]) => ({
      service,
      paths: [...begins].sort(([, a], [, b]) => a - b).map(([directory]) => directory),
    }));
}
