import { basename, dirname, resolve } from 'node:path';

/** A Heph file of a run of the register hook: `name-PID.heph`, or a piece of that. */
const HEPH_FILE = /-(\d+)(?:\.\d{6,})?\.heph$/;

/** The process that has written a Heph file of a run; undefined for any other file. */
export function pidOfFile(path: string): number | undefined {
  const trace = resolve(path);
  const [, pid] = HEPH_FILE.exec(basename(trace)) ?? [];
  return pid !== undefined && basename(dirname(trace)) === 'heph' ? Number(pid) : undefined;
}

/**
 * The directory of the run of the register hook that a trace is of; undefined if it is of none. An
 * ovni trace of a run is its folder `ovni`, or a piece in there.
 */
export function runOf(path: string): string | undefined {
  if (pidOfFile(path) !== undefined) return dirname(dirname(resolve(path)));
  const trace = resolve(path);
  if (basename(trace) === 'ovni') return dirname(trace);
  return basename(dirname(trace)) === 'ovni' ? dirname(dirname(trace)) : undefined;
}
