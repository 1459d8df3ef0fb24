import { programOfFile } from '../heph/file-names.js';
import { runOf } from './run-directory.js';

/** The trace of one process. */
interface Recording {
  path: string;
  service: string | undefined;
}

function areDisjoint(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const program of one) if (other.has(program)) return false;
  return true;
}

/**
 * Services whose name several programs have. The programs of one run are one service: a process and those that it has
 * started.
 *
 * @returns the names of each such service's programs, sorted.
 */
export function sharedServices(recordings: readonly Recording[]): Map<string, string[]> {
  const services = new Map<string, Map<string, Set<string>>>();
  for (const { path, service } of recordings) {
    const run = runOf(path);
    const program = programOfFile(path);
    if (service === undefined || run === undefined || program === undefined) continue;
    const runs = services.get(service) ?? new Map<string, Set<string>>();
    services.set(service, runs);
    const programs = runs.get(run) ?? new Set();
    runs.set(run, programs.add(program));
  }
  const shared = new Map<string, string[]>();
  for (const [service, runs] of services) {
    // Restarts of a service are many runs of the same programs.
    const kinds = [
      ...new Map([...runs.values()].map((each) => [[...each].sort().join('/'), each])).values(),
    ];
    const isShared = kinds.some((one) => kinds.some((other) => areDisjoint(one, other)));
    if (isShared) shared.set(service, [...new Set(kinds.flatMap((each) => [...each]))].sort());
  }
  return shared;
}
