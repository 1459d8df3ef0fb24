import { basename, dirname, join, resolve, sep } from 'node:path';
import { RUN_FOLDER as HEPH_FOLDER, pidInRun } from '../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../ovni/file-names.js';
import { readdirSync } from 'node:fs';
import { isDirectory } from '../core/files/file-kind.js';

/**
 * The directory of the run of the register hook that a trace is of; undefined if it is of none. An
 * ovni trace of a run is its folder `ovni`, or a piece in there.
 */
export function runOf(path: string): string | undefined {
  if (pidInRun(path) !== undefined) return dirname(dirname(resolve(path)));
  const trace = resolve(path);
  if (basename(trace) === OVNI_FOLDER) return dirname(trace);
  return basename(dirname(trace)) === OVNI_FOLDER ? dirname(dirname(trace)) : undefined;
}

/** What the register hook appends to a directory that already has a run. */
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
