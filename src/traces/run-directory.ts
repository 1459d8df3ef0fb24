import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isDirectory } from '../core/files/file-kind.js';
import { pidInRun, programOfFile, RUN_FOLDER as HEPH_FOLDER } from '../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../ovni/file-names.js';

/**
 * The directory of the run of the register hook that a trace is of; undefined if it is of none. The ovni trace of a
 * run is its folder `ovni`.
 */
export function runOf(path: string): string | undefined {
  if (pidInRun(path) !== undefined) return dirname(dirname(resolve(path)));
  const trace = resolve(path);
  return basename(trace) === OVNI_FOLDER ? dirname(trace) : undefined;
}

/** The end of a directory's name that the register hook appends where there is a run already. */
const NUMBER = /^\.([1-9]\d*)$/;

function isRun(directory: string): boolean {
  return [HEPH_FOLDER, OVNI_FOLDER].some((folder) => isDirectory(join(directory, folder)));
}

/**
 * The runs that the register hook has written next to one because its directory was in use: `traces.1` of `traces`.
 * Empty if the path is not the directory of a run.
 *
 * @param named paths that are read: runs in them are left out.
 * @returns their paths, by their number; relative if the given one is.
 */
export function furtherRuns(path: string, named: readonly string[]): string[] {
  if (!isRun(path)) return [];
  const name = basename(resolve(path));
  const parent = dirname(resolve(path));
  const numbers = readdirSync(parent)
    .filter((entry) => entry.startsWith(name))
    .map((entry) => Number(NUMBER.exec(entry.slice(name.length))?.[1]))
    .filter((number) => number > 0)
    .sort((a, b) => a - b);
  const read = named.map((each) => resolve(each));
  const isRead = (run: string): boolean =>
    read.some((each) => run === each || run.startsWith(each.endsWith(sep) ? each : each + sep));
  return numbers
    .map((number) => join(path, '..', `${name}.${number}`))
    .filter((run) => isRun(run) && !isRead(resolve(run)));
}

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
