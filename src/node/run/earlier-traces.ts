import { rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { anchorOwnDirectory, anchoredPath, releaseDirectory } from '../../core/files/anchor.js';
import { kindOf } from '../../core/files/file-kind.js';
import { isTaken } from '../../core/recovery/process-identity.js';
import { isOurs as isOfUser } from '../../core/recovery/ring-trust.js';
import { hasCode } from '../../core/files/system-error.js';
import {
  cutEndAt,
  EXTENSION,
  fileOfRing as fileOfHephRing,
  pidOfFile,
  RUN_FOLDER as HEPH_FOLDER,
} from '../../heph/file-names.js';
import { loomOf, pidOf, RUN_FOLDER as OVNI_FOLDER } from '../../ovni/file-names.js';
import { FOLDERS, isRun } from './run.js';
import type { Run } from './run.js';
import { contentOfTrace, halfRemoved, isHeph, namesIn, removeTrace } from './trace-content.js';
import type { TraceContent } from './trace-content.js';

/** A trace that an earlier process has left: an ovni directory, or a Heph file. */
interface EarlierTrace {
  path: string;
  bytes: number;
  /** When it was last written to, in milliseconds. */
  time: number;
}

/** Whether the hook gives such a name to what it writes within an ovni folder. */
const isNamed = (name: string) => [loomOf, pidOf].some((of) => of(name) !== undefined);

/** Whether the process of a name has ended; false for a name without a process. */
function hasEnded(pid: number | undefined): boolean {
  return pid !== undefined && pid > 0 && !isTaken(pid);
}

/** Where the traces of a run are; of this one without those whose processes may still write them. */
function tracesOf(run: string, present: boolean): string[] {
  const ovni = join(run, OVNI_FOLDER);
  const heph = join(run, HEPH_FOLDER);
  const names = namesIn(heph);
  const ringed = names.flatMap((name) => fileOfHephRing(name) ?? []);
  const files = [...new Set([...names.filter((name) => !name.startsWith('.')), ...ringed])]
    .filter((name) => name.endsWith(EXTENSION))
    .filter((name) => !present || hasEnded(pidOfFile(name)))
    .map((name) => join(heph, name));
  const isOne = (name: string, pid: number | undefined) => {
    if (present) return hasEnded(pid);
    const removed = halfRemoved(name);
    return removed === undefined ? pid !== undefined : isNamed(removed);
  };
  const processes = namesIn(ovni).flatMap((name) => {
    if (loomOf(name) === undefined) return [];
    return namesIn(join(ovni, name))
      .filter((each) => isOne(each, pidOf(each)))
      .map((each) => join(ovni, name, each));
  });
  return [...processes, ...files];
}

/** Whether a trace is what the hook writes: a directory or a regular file, or nothing but its rings. */
function isOurs(path: string): boolean {
  const kind = kindOf(path);
  return isHeph(path) ? kind === undefined || kind.isFile() : kind?.isDirectory() === true;
}

/** Whether an earlier run has been written by the user of this process. */
function isOfOurs(run: string): boolean {
  return FOLDERS.map((name) => join(run, name)).every((path) => {
    const status = kindOf(path);
    return status === undefined || (status.isDirectory() && isOfUser(path, status));
  });
}

/** Holds the directories of earlier runs open while they are read and changed. */
export function whileAnchored<T>(runs: readonly string[], work: () => T): T {
  const held: string[] = [];
  try {
    const ours = runs.filter(isOfOurs);
    for (const path of ours.flatMap((run) => FOLDERS.map((name) => join(run, name)))) {
      if (kindOf(path)?.isDirectory() !== true) continue;
      anchorOwnDirectory(path);
      held.push(path);
    }
    return work();
  } finally {
    held.forEach(releaseDirectory);
  }
}

/**
 * Completes what processes that have ended left in the directory of this run and in those of earlier
 * ones, and says what is there, the oldest first. Traces of processes that are alive are left alone.
 *
 * @param present the directory of this run.
 * @param ringDir where rings lie that are not in the directories of their traces.
 */
export function completeEarlierTraces(
  present: string,
  earlier: readonly string[],
  ringDir: string | undefined,
): EarlierTrace[] {
  const runs = [...earlier.filter(isOfOurs), present];
  const found = runs.map((run) => tracesOf(run, run === present).filter(isOurs));
  const traces = found.flat().map(readContent);
  const isSettled = ringDir === undefined && !traces.some(mayBeUnfinished);
  return (isSettled ? traces : recovered(found, ringDir).map(readContent))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => a.time - b.time);
}

function mayBeUnfinished({ rings, isHidden, isVersion1 }: TraceContent): boolean {
  return rings.length > 0 || isHidden || isVersion1;
}

function readContent(path: string): EarlierTrace & TraceContent {
  return { path, ...contentOfTrace(path) };
}

/** Recovery is loaded only if there is something to recover. */
function recovered(traces: readonly (readonly string[])[], ringDir: string | undefined): string[] {
  const { recoverEarlier } =
    require('./recover-earlier.js') as typeof import('./recover-earlier.js');
  return recoverEarlier(traces, ringDir);
}

/** Deletes the oldest of some traces until the others take no more than `bytes`. */
export function deleteOldest(traces: readonly EarlierTrace[], bytes: number): void {
  let total = traces.reduce((sum, trace) => sum + trace.bytes, 0);
  for (const trace of traces) {
    if (total <= bytes) return;
    removeWithDirectories(trace.path);
    total -= trace.bytes;
  }
}

/** Removes a trace, and the directories that it leaves empty. */
function removeWithDirectories(path: string): void {
  try {
    removeTrace(path);
    // What a recovery has cut off it goes along.
    for (const name of isHeph(path) ? namesIn(dirname(path)) : []) {
      const cut = cutEndAt(join(dirname(path), name));
      if (cut?.file === path) rmSync(anchoredPath(cut.path), { force: true });
    }
    // Up to that of the run.
    const levels = pidOf(basename(path)) !== undefined ? 3 : 2;
    for (let at = dirname(path), level = 0; level < levels; at = dirname(at), level++)
      rmdirSync(anchoredPath(at));
  } catch (error) {
    // Another process was faster, or there is more in them.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].some((code) => hasCode(error, code))) throw error;
  }
}

/**
 * Completes what is unfinished in the directory of this run and in those of earlier ones.
 *
 * @param budget bytes beyond which the oldest traces are deleted; 0: there is none.
 * @returns the bytes of all their traces.
 */
export function settle(run: Run, earlier: readonly string[], ringDir?: string, budget = 0): number {
  const runs = earlier.filter(isRun);
  return whileAnchored(runs, () => {
    const traces = completeEarlierTraces(run.directory, runs, ringDir);
    if (budget > 0) deleteOldest(traces, budget);
    return traces.reduce((sum, { bytes }) => sum + bytes, 0);
  });
}
