import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { clockNow } from '../../core/clock.js';
import { directoryMode } from '../../core/options/file-mode.js';
import { valueOf } from '../../core/settings/value-of.js';
import { anchorNamedDirectory, anchorOwnDirectory } from '../../core/files/anchor.js';
import { isDirectory, kindOf } from '../../core/files/file-kind.js';
import { makeDirectories, whileDeleted } from '../../core/files/make-directories.js';
import { absolutePath, pathIn } from '../../core/files/path-in.js';
import { hasCode } from '../../core/files/system-error.js';
import { RUN_FOLDER as HEPH_FOLDER } from '../../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../../ovni/file-names.js';
import type { Settings } from '../settings.js';
import type { SharedRun } from './process-tree.js';

/** Folders in the directory of a run: one of each format. */
export const FOLDERS: readonly string[] = [OVNI_FOLDER, HEPH_FOLDER];

/**
 * One run of a service: the topmost process that is traced, and every traced process and thread
 * below it. All of them write into one directory.
 */
export interface Run {
  directory: string;
  /**
   * Nanoseconds of CLOCK_MONOTONIC at which the run began. ovni's emulator refuses streams that
   * begin more than an hour apart, so a late one leads with an event of this moment.
   */
  firstClock: bigint;
  /** Whether this process began the run. */
  topmost: boolean;
  /** The process that began it; undefined: not known. */
  beginner: number | undefined;
  /**
   * Directories with the names of earlier runs in the same parent directory, the latest first, for the process
   * that begins one.
   */
  earlier: readonly string[];
}

/** The variable by which child processes know their run. */
export const VARIABLE = 'TRACEWRIGHT_RUN';

interface Inherited {
  directory: string;
  firstClock: string;
  /** `TRACEWRIGHT_DIR` of the run. A child process with another value begins its own run. */
  setting: string;
  /** The process that has begun it. */
  pid?: number;
}

/**
 * Joins a run that another process has begun. Its directory may be gone, because none of its processes has recorded
 * anything: then this process begins it anew.
 *
 * @param parent where the directory must lie; undefined: anywhere.
 */
function inherited(settings: Settings, text: string, parent?: string): Run | undefined {
  try {
    const { directory, firstClock, setting, pid } = JSON.parse(text) as Inherited;
    const begun = BigInt(firstClock);
    // A clock from the future is that of another boot or machine.
    if (setting !== (settings.directory ?? '') || begun > clockNow()) return undefined;
    if (typeof directory !== 'string' || (parent ?? dirname(directory)) !== dirname(directory))
      return undefined;
    const run = { directory, firstClock: begun, topmost: false, beginner: pid, earlier: [] };
    try {
      anchorNamedDirectory(directory);
      return run;
    } catch {
      // Nobody deletes a directory that a user has named.
      if (setting !== '' || !STAMP.test(directory)) return undefined;
    }
    return { ...run, topmost: processTree().makeAgain(directory) };
  } catch {
    return undefined;
  }
}

function processTree(): typeof import('./process-tree.js') {
  return require('./process-tree.js') as typeof import('./process-tree.js');
}

/**
 * Whether a test runner started it, or a package manager with the hook in `NODE_OPTIONS`: there may be others like it.
 */
export function isRunByTool(): boolean {
  const { env } = process;
  if (env['NODE_TEST_CONTEXT'] !== undefined) return true;
  return env['npm_execpath'] !== undefined && Boolean(env['NODE_OPTIONS']);
}

/** The run of the processes that a tool has started; undefined: this is none of them. */
function sharedRunIn(parent: string): SharedRun | undefined {
  if (!isRunByTool()) return undefined;
  try {
    return processTree().sharedRun(parent);
  } catch {
    // It has a run of its own then.
    return undefined;
  }
}

function defaultDirectory(name: string): string {
  const moment = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
  return join('traces', `${name}-${moment}-${process.pid}`);
}

const NUMBERED = /^\.[1-9]\d{0,8}$/;
/** Instead of the service's name, of a run that several programs share. */
const SHARED_NAME = 'run';
/** The end of a directory's name that nobody has chosen. */
const STAMP = /-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-\d+(?:\.\d+)?$/;
const STAMPED = new RegExp(`^${STAMP.source}`);

/** Whether a directory has the folder of a format. */
export function isRun(directory: string): boolean {
  return FOLDERS.some((name) => isDirectory(pathIn(directory, name)));
}

/** The directories that have the names of earlier runs of the same service, the latest first. */
function earlierRuns(wanted: string, settings: Settings): string[] {
  const parent = dirname(wanted);
  if (!existsSync(parent)) return [];
  const [starts, rest] =
    settings.directory === undefined
      ? [[settings.name, SHARED_NAME], STAMPED]
      : [[basename(wanted)], NUMBERED];
  return readdirSync(parent, { withFileTypes: true })
    .flatMap((entry) => {
      const { name } = entry;
      const start = starts.find(
        (each) => name.startsWith(each) && rest.test(name.slice(each.length)),
      );
      if ((start === undefined && name !== basename(wanted)) || !entry.isDirectory()) return [];
      return { name, end: name.slice((start ?? name).length) };
    })
    .sort((a, b) => orderOfEnds(b.end, a.end))
    .map(({ name }) => pathIn(parent, name));
}

/** Numbers have no leading zeros, and moments are equally long but for the pid. */
function orderOfEnds(a: string, b: string): number {
  if (a.startsWith('.')) return a.length - b.length || (a < b ? -1 : 1);
  return a < b ? -1 : 1;
}

/**
 * Claims a directory that no other run has used: `wanted`, else `<wanted>.1`, `<wanted>.2` …
 *
 * @param latest the latest directory of the same name: what comes before it was claimed.
 */
function claim(wanted: string, folder: string, latest = ''): string {
  const mode = directoryMode(valueOf('FILE_MODE'));
  const used = latest.startsWith(`${wanted}.`) ? Number(latest.slice(wanted.length + 1)) : 0;
  for (let number = used; ; number++) {
    const directory = number === 0 ? wanted : `${wanted}.${number}`;
    makeDirectories(directory, mode);
    // Only the name that was asked for may be that of a link.
    if (number > 0 && !isDirectory(directory)) continue;
    try {
      if (FOLDERS.some((name) => kindOf(pathIn(directory, name)) !== undefined)) continue;
      // Only one process can make it, so making it is the claim.
      mkdirSync(pathIn(directory, folder), { mode });
      return directory;
    } catch (error) {
      if (!hasCode(error, 'EEXIST') && !isClosedByOther(directory, error)) throw error;
    }
  }
}

/** Whether an error says that a directory is another user's, who lets nobody in. */
function isClosedByOther(directory: string, error: unknown): boolean {
  if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) return false;
  const status = statSync(directory, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid !== process.geteuid?.();
}

/**
 * Joins the run of the parent process, or begins one for this process and its children.
 *
 * @throws when the directory cannot be made.
 */
export function joinRun(settings: Settings): Run {
  const parents = inherited(settings, process.env[VARIABLE] ?? '');
  if (parents !== undefined) {
    if (parents.topmost) publishRun(parents, settings);
    return parents;
  }
  const own = absolutePath(settings.directory ?? defaultDirectory(settings.name));
  const parent = dirname(own);
  const shared = sharedRunIn(parent);
  const firstClock = clockNow();
  if (shared?.run !== undefined) {
    const found = inherited(settings, shared.run, parent);
    if (found !== undefined) {
      process.env[VARIABLE] = shared.run;
      // The process that has deleted the directory deletes the file that names it, too.
      if (found.topmost) shared.begin(publishRun(found, settings));
      return found;
    }
  }
  const wanted =
    shared === undefined ? own : absolutePath(settings.directory ?? defaultDirectory(SHARED_NAME));
  const earlier = earlierRuns(wanted, settings);
  const directory = claim(wanted, settings.heph ? HEPH_FOLDER : OVNI_FOLDER, earlier[0]);
  anchorNamedDirectory(directory);
  const run = { directory, firstClock, topmost: true, beginner: process.pid, earlier };
  const text = publishRun(run, settings);
  shared?.begin(text);
  return run;
}

/** Says to child processes which run this one has begun; returns what it has said. */
function publishRun({ directory, firstClock }: Run, settings: Settings): string {
  const child: Inherited = {
    directory,
    firstClock: String(firstClock),
    setting: settings.directory ?? '',
    pid: process.pid,
  };
  const text = JSON.stringify(child);
  process.env[VARIABLE] = text;
  return text;
}

/**
 * Makes the folder of a format in a run, and holds it open. The owner of the run's directory
 * could replace it while the process writes there.
 *
 * @throws TracewrightError `ERR_SYSTEM` if it cannot be made, is a link, or belongs to another user.
 */
export function enterFormat(run: Pick<Run, 'directory'>, folder: string): string {
  const directory = pathIn(run.directory, folder);
  whileDeleted(() => {
    makeDirectories(directory, directoryMode(valueOf('FILE_MODE')));
    anchorOwnDirectory(directory);
  });
  return directory;
}
