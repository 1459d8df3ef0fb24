import { basename, dirname, resolve } from 'node:path';
import { pidOfFile as pidOfHephFile, RUN_FOLDER as HEPH_FOLDER } from '../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../ovni/file-names.js';

/** The process that has written a Heph file of a run; undefined for any other file. */
export function pidOfFile(path: string): number | undefined {
  const trace = resolve(path);
  return basename(dirname(trace)) === HEPH_FOLDER ? pidOfHephFile(trace) : undefined;
}

/**
 * The directory of the run of the register hook that a trace is of; undefined if it is of none. An
 * ovni trace of a run is its folder `ovni`, or a piece in there.
 */
export function runOf(path: string): string | undefined {
  if (pidOfFile(path) !== undefined) return dirname(dirname(resolve(path)));
  const trace = resolve(path);
  if (basename(trace) === OVNI_FOLDER) return dirname(trace);
  return basename(dirname(trace)) === OVNI_FOLDER ? dirname(dirname(trace)) : undefined;
}
