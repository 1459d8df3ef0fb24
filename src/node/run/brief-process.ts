import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { hasCode } from '../../core/files/system-error.js';
import { pidOfFile, RUN_FOLDER as HEPH_FOLDER } from '../../heph/file-names.js';
import { loomOf, pidOf, RUN_FOLDER as OVNI_FOLDER } from '../../ovni/file-names.js';
import { isTaken } from '../../core/recovery/process-identity.js';
import { hookStream } from '../../ovni/write/hook-stream.js';
import { ovniStream } from '../threads/late-ovni.js';
import { announce } from './announce.js';
import type { ProcessPlan } from './process-plan.js';
import { FOLDERS, isRunByTool, VARIABLE } from './run.js';
import { isPreloadedExplicitly } from '../enabled.js';
import type { Settings } from '../settings.js';
import type { Run } from './run.js';

const BRIEF_MS = 1000;

/** Whether this may be one of the many short processes of a shell: nothing of them names the hook but `NODE_OPTIONS`. */
function inheritsHook({ directory, hephTarget }: Settings): boolean {
  return (directory ?? hephTarget) === undefined && !isPreloadedExplicitly();
}

/** Bytes of ovni events of all threads of this process. */
function ovniBytes(): number {
  return hookStream.begun === undefined ? 0 : ovniStream().recordedBytes();
}

function hasSpans({ directory }: Run): boolean {
  return namesIn(join(directory, HEPH_FOLDER)).some((name) => pidOfFile(name) === process.pid);
}

/** Deletes directories that are empty, from one up to another; false if one is not. */
function deleteEmpty(from: string, to: string): boolean {
  try {
    for (let each = from; each !== dirname(to); each = dirname(each)) rmdirSync(each);
    return true;
  } catch (error) {
    return hasCode(error, 'ENOENT');
  }
}

/**
 * Deletes the trace of this process, and the directories that no other process has written to. Others of the run make
 * them anew.
 *
 * @returns whether the run is deleted.
 */
function deleteTrace({ directory }: Run): boolean {
  if (hookStream.begun !== undefined) {
    const procDir = ovniStream().endTrace();
    rmSync(procDir, { recursive: true, force: true });
    if (!deleteEmpty(dirname(procDir), join(directory, OVNI_FOLDER))) return false;
  }
  if (!FOLDERS.every((name) => deleteEmpty(join(directory, name), join(directory, name))))
    return false;
  if (!deleteEmpty(directory, directory)) return false;
  if (isRunByTool()) forget(directory);
  deleteEmpty(dirname(directory), dirname(directory));
  return true;
}

/** The processes that have a trace in a run. */
function processesIn({ directory }: Run): number[] {
  const ovni = join(directory, OVNI_FOLDER);
  const looms = namesIn(ovni).filter((name) => loomOf(name) !== undefined);
  return [
    ...looms.flatMap((loom) => namesIn(join(ovni, loom)).flatMap((name) => pidOf(name) ?? [])),
    ...namesIn(join(directory, HEPH_FOLDER)).flatMap((name) => pidOfFile(name) ?? []),
  ];
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Says where the traces are: the process that has begun the run, or, if that has left none, the first to keep its own. */
function announceKept(settings: Settings, run: Run, plan: ProcessPlan): void {
  const { topmost, beginner = 0 } = run;
  if (topmost || processesIn(run).includes(beginner) || !claimAnnouncement(run)) {
    announce(settings, run, plan);
  } else announce(settings, { ...run, topmost: true }, plan);
}

function claimAnnouncement({ directory }: Run): boolean {
  try {
    writeFileSync(join(directory, '.announced'), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** Deletes the file by which the processes of a tool find the run. */
function forget(directory: string): void {
  const { forgetRun } = require('./process-tree.js') as typeof import('./process-tree.js');
  try {
    forgetRun(directory);
  } catch {
    // There is none, or it is another's.
  }
}

/**
 * Prints where the traces are. But a process that only inherits the hook leaves no trace if it has recorded nothing
 * but its own start, and ends within a second. The last of these of a run leaves no directory. Processes that it has
 * started join the run nevertheless.
 */
export function leaveNothing(settings: Settings, run: Run, plan: ProcessPlan): void {
  if (!inheritsHook(settings)) {
    announce(settings, run, plan);
    return;
  }
  const atStart = ovniBytes();
  let isKept = false;
  const keep = (): void => {
    isKept = true;
    announceKept(settings, run, plan);
  };
  // What a program does before its event loop turns may take long on a busy machine.
  setImmediate(() => {
    setTimeout(keep, BRIEF_MS).unref();
  }).unref();
  process.on('exit', () => {
    if (isKept) return;
    try {
      if (ovniBytes() !== atStart || hasSpans(run)) keep();
      else if (!deleteTrace(run) && processesIn(run).some((pid) => !isTaken(pid)))
        announce(settings, run, plan);
    } catch {
      // The process is ending, and leaves what it has written.
    }
  });
}

/**
 * Removes the directories of a run that writes nothing, so that the next run can use the name. The
 * requested directory may belong to another program, and stays.
 */
export function leaveRun({ directory, topmost }: Run, settings: Settings): void {
  if (!topmost) return;
  Reflect.deleteProperty(process.env, VARIABLE);
  const directories = FOLDERS.map((name) => join(directory, name));
  if (directory !== resolve(settings.directory ?? '')) directories.push(directory);
  for (const each of directories) {
    try {
      rmdirSync(each);
    } catch {
      // It does not exist, or is not empty.
    }
  }
}
