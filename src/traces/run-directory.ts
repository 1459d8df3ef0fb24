import { basename, dirname, resolve } from 'node:path';
import { pidInRun } from '../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../ovni/file-names.js';

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
