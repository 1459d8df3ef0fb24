import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { anchorNamedDirectory } from '../../core/files/anchor.js';
import { makeDirectories, whileDeleted } from '../../core/files/make-directories.js';
import { directoryMode } from '../../core/options/file-mode.js';
import { valueOf } from '../../core/settings/value-of.js';
import { readRegularFile } from '../../core/files/regular-file.js';
import { hasCode } from '../../core/files/system-error.js';
import { statOf } from '../../core/recovery/process-identity.js';

/** A process, by its pid and the clock tick at which it started. */
interface Identity {
  pid: number;
  start: string;
}

interface Process extends Identity {
  parent: number;
}

const MAX_ANCESTORS = 32;

/** Of Linux; undefined elsewhere, or where the system does not say. */
function processOf(pid: number): Process | undefined {
  try {
    const { parent, start } = statOf(pid);
    return { pid, start, parent };
  } catch {
    return undefined;
  }
}

/** Whether a process was started with the same `NODE_OPTIONS`, so that it has the hook too, or leaves it out. */
function hasSameOptions(pid: number): boolean {
  const { NODE_OPTIONS: options = '' } = process.env;
  if (options === '') return false;
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return environment.includes(`NODE_OPTIONS=${options}`);
  } catch {
    return false;
  }
}

/**
 * The topmost process of what this one belongs to: a test runner, or the command of a package manager. They run the
 * programs, and are no part of a trace themselves. Undefined: this process was not started by one.
 */
function treeRoot(): Identity | undefined {
  const isTest = process.env['NODE_TEST_CONTEXT'] !== undefined;
  let root: Process | undefined;
  let each = processOf(process.ppid);
  for (let i = 0; i < MAX_ANCESTORS && each !== undefined && each.pid > 1; i++) {
    if ((isTest && i === 0) || hasSameOptions(each.pid)) root = each;
    else if (root !== undefined) break;
    each = processOf(each.parent);
  }
  return root;
}

const MARKER = /^\.tracewright-(\d+)-(\d+)$/;
const LONGEST_CLAIM_MS = 2000;
const PAUSE_MS = 5;
/** Most bytes of the description of a run: a path and a few words. */
const MOST_RUN_BYTES = 1 << 16;

/** The run of a tree that has no traced process at its top: the first process of it begins the run. */
export interface SharedRun {
  /** The description by the first process; undefined: this process is the first. */
  run: string | undefined;
  /** Says it to the others; of a run that another process has begun, unless that is still said. */
  begin(run: string): void;
}

/** Deletes what trees have left that have ended. */
function deleteEnded(directory: string): void {
  for (const name of readdirSync(directory)) {
    const [found, pid, start] = MARKER.exec(name) ?? [];
    if (found === undefined || processOf(Number(pid))?.start === start) continue;
    rmSync(join(directory, name), { force: true });
  }
}

/** The description by another process of the tree; undefined: nothing, within the time that it takes. */
function awaitRun(path: string): string | undefined {
  const until = Date.now() + LONGEST_CLAIM_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  do {
    const run = readRegularFile(path, MOST_RUN_BYTES).toString();
    if (run !== '') return run;
    Atomics.wait(pause, 0, 0, PAUSE_MS);
  } while (Date.now() < until);
  // Its process has ended, and the next one is to take its turn.
  rmSync(path, { force: true });
  return undefined;
}

/** The hidden file in a directory that says which run the tree of this process shares there. */
function markerIn(directory: string): string | undefined {
  const root = treeRoot();
  if (root === undefined) return undefined;
  return join(directory, `.tracewright-${root.pid}-${root.start}`);
}

/** Makes a file with a text; false if there is one. */
function makeFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Deletes the file that names a run of the tree of this process: the run's directory is deleted. */
export function forgetRun(run: string): void {
  const path = markerIn(dirname(run));
  if (path === undefined) return;
  // The next run of the tree may have begun.
  const { directory } = JSON.parse(readRegularFile(path, MOST_RUN_BYTES).toString()) as {
    directory?: unknown;
  };
  if (directory === run) rmSync(path, { force: true });
}

/** Makes the directory of a run anew, and holds it; false if another process has made it. */
export function makeAgain(directory: string): boolean {
  const mode = directoryMode(valueOf('FILE_MODE'));
  return whileDeleted(() => {
    makeDirectories(dirname(directory), mode);
    let isOurs = true;
    try {
      mkdirSync(directory, { mode });
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
      isOurs = false;
    }
    anchorNamedDirectory(directory);
    return isOurs;
  });
}

/**
 * The run that the processes of a tree share in a directory, which is made. A hidden file there says which it is.
 *
 * @returns undefined: this process belongs to no such tree.
 */
export function sharedRun(directory: string): SharedRun | undefined {
  return whileDeleted(() => {
    makeDirectories(directory, directoryMode(valueOf('FILE_MODE')));
    return findRun(directory);
  });
}

function findRun(directory: string): SharedRun | undefined {
  const path = markerIn(directory);
  if (path === undefined) return undefined;
  if (!makeFile(path, '')) {
    const run = awaitRun(path);
    return run === undefined ? undefined : { run, begin: (anew) => void makeFile(path, anew) };
  }
  deleteEnded(directory);
  return {
    run: undefined,
    begin(run) {
      writeFileSync(path, run);
    },
  };
}
