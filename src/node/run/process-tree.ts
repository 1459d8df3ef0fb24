import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
/** What a process says of its run: a path and a few words. */
const MOST_RUN_BYTES = 1 << 16;

/** The run of a tree that has no traced process at its top: the first process of it begins the run. */
export interface SharedRun {
  /** What the first process has said of it; undefined: this process is the first. */
  run: string | undefined;
  /** Says it to the others. */
  begin(run: string): void;
}

/** Deletes what trees have left that have ended. */
function deleteEnded(place: string): void {
  for (const name of readdirSync(place)) {
    const [found, pid, start] = MARKER.exec(name) ?? [];
    if (found === undefined || processOf(Number(pid))?.start === start) continue;
    rmSync(join(place, name), { force: true });
  }
}

/** What another process of the tree has said; undefined: nothing, within the time that it takes. */
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

/**
 * The run that the processes of a tree share in a directory. A hidden file there says which it is.
 *
 * @returns undefined: this process belongs to no such tree.
 */
export function sharedRun(place: string): SharedRun | undefined {
  const root = treeRoot();
  if (root === undefined) return undefined;
  const path = join(place, `.tracewright-${root.pid}-${root.start}`);
  try {
    writeFileSync(path, '', { flag: 'wx' });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const run = awaitRun(path);
    return run === undefined ? undefined : { run, begin: () => undefined };
  }
  deleteEnded(place);
  return {
    run: undefined,
    begin(run) {
      writeFileSync(path, run);
    },
  };
}
