import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { clockNow } from '../../core/clock.js';
import { checkFileMode, directoryMode } from '../../core/options/file-mode.js';
import { anchorNamedDirectory, anchorOwnDirectory } from '../../core/files/anchor.js';
import { isDirectory, kindOf } from '../../core/files/file-kind.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import { hasCode } from '../../core/files/system-error.js';
import { RUN_FOLDER as HEPH_FOLDER } from '../../heph/file-names.js';
import { RUN_FOLDER as OVNI_FOLDER } from '../../ovni/file-names.js';
import type { Settings } from '../settings.js';
import type { SharedRun } from './process-tree.js';

/** What a run has in its directory: a folder of each format. */
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
  /** Directories of earlier runs of the same place, for the process that begins one. */
  earlier: readonly string[];
}

/** The variable by which child processes know their run. */
const VARIABLE = 'TRACEWRIGHT_RUN';

interface Inherited {
  directory: string;
  firstClock: string;
  /** `TRACEWRIGHT_DIR` of the run. A child process with another value begins its own run. */
  setting: string;
}

function inherited(settings: Settings, text: string): Run | undefined {
  try {
    const { directory, firstClock, setting } = JSON.parse(text) as Inherited;
    const begun = BigInt(firstClock);
    // A clock from the future is that of another boot or machine.
    if (setting !== (settings.directory ?? '') || begun > clockNow()) return undefined;
    if (typeof directory !== 'string' || !existsSync(directory)) return undefined;
    return { directory, firstClock: begun, topmost: false, earlier: [] };
  } catch {
    return undefined;
  }
}

/** What a test runner or a package manager runs. */
function isRunByTool(): boolean {
  return (
    process.env['NODE_TEST_CONTEXT'] !== undefined || process.env['npm_execpath'] !== undefined
  );
}

/** The run of the processes that a tool has started; undefined: this is none of them. */
function sharedRunIn(place: string): SharedRun | undefined {
  if (!isRunByTool()) return undefined;
  const { sharedRun } = require('./process-tree.js') as typeof import('./process-tree.js');
  try {
    makeDirectories(place, directoryMode(checkFileMode()));
    return sharedRun(place);
  } catch {
    // It has a run of its own then.
    return undefined;
  }
}

function defaultDirectory(name: string): string {
  const moment = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
  return join('traces', `${name}-${moment}-${process.pid}`);
}

const NUMBERED = /^\.\d+$/;
/** In place of the service's name, of a run that several programs share. */
const SHARED_NAME = 'run';
const STAMPED = /^-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-\d+(?:\.\d+)?$/;

/** The directories of runs that were given the same name before. */
function earlierRuns(wanted: string, settings: Settings): string[] {
  const place = dirname(wanted);
  if (!existsSync(place)) return [];
  const [starts, rest] =
    settings.directory === undefined
      ? [[settings.name, SHARED_NAME], STAMPED]
      : [[basename(wanted)], NUMBERED];
  return readdirSync(place, { withFileTypes: true })
    .filter(
      ({ name }) =>
        name === basename(wanted) ||
        starts.some((start) => name.startsWith(start) && rest.test(name.slice(start.length))),
    )
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(place, name))
    .filter((run) => FOLDERS.some((name) => isDirectory(join(run, name))));
}

/** Claims a directory that no other run has used: `wanted`, else `<wanted>.1`, `<wanted>.2` … */
function claim(wanted: string, folder: string): string {
  const mode = directoryMode(checkFileMode());
  for (let number = 0; ; number++) {
    const directory = number === 0 ? wanted : `${wanted}.${number}`;
    makeDirectories(directory, mode);
    // Only the name that was asked for may be that of a link.
    if (number > 0 && !isDirectory(directory)) continue;
    if (FOLDERS.some((name) => kindOf(join(directory, name)) !== undefined)) continue;
    try {
      // Only one process can make it, so making it is the claim.
      mkdirSync(join(directory, folder), { mode });
      return directory;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

/**
 * Joins the run of the parent process, or begins one for this process and its children.
 *
 * @throws when the directory cannot be made.
 */
export function joinRun(settings: Settings): Run {
  const parents = inherited(settings, process.env[VARIABLE] ?? '');
  if (parents !== undefined) {
    anchorNamedDirectory(parents.directory);
    return parents;
  }
  const place = dirname(resolve(settings.directory ?? defaultDirectory(settings.name)));
  const shared = sharedRunIn(place);
  const firstClock = clockNow();
  if (shared?.run !== undefined) {
    const found = inherited(settings, shared.run);
    if (found !== undefined && dirname(found.directory) === place) {
      anchorNamedDirectory(found.directory);
      process.env[VARIABLE] = shared.run;
      return found;
    }
  }
  const name = shared === undefined ? settings.name : SHARED_NAME;
  const wanted = resolve(settings.directory ?? defaultDirectory(name));
  const earlier = earlierRuns(wanted, settings);
  const directory = claim(wanted, settings.ovni ? OVNI_FOLDER : HEPH_FOLDER);
  anchorNamedDirectory(directory);
  const child: Inherited = {
    directory,
    firstClock: String(firstClock),
    setting: settings.directory ?? '',
  };
  process.env[VARIABLE] = JSON.stringify(child);
  shared?.begin(JSON.stringify(child));
  return { directory, firstClock, topmost: true, earlier };
}

/**
 * Makes the folder of a format in a run, and holds it open. The owner of the run's directory
 * could replace it while the process writes there.
 *
 * @throws TracewrightError `ERR_SYSTEM` if it cannot be made, is a link, or belongs to another user.
 */
export function enterFormat(run: Run, folder: string): string {
  const directory = join(run.directory, folder);
  makeDirectories(directory, directoryMode(checkFileMode()));
  anchorOwnDirectory(directory);
  return directory;
}

/**
 * Removes the directories of a run that writes nothing, so that the next run can use the name. The
 * requested directory may belong to another program, and stays.
 */
export function leaveRun({ directory, topmost }: Run, settings: Settings): void {
  if (!topmost) return;
  Reflect.deleteProperty(process.env, VARIABLE);
  const places = FOLDERS.map((name) => join(directory, name));
  if (directory !== resolve(settings.directory ?? '')) places.push(directory);
  for (const place of places) {
    try {
      rmdirSync(place);
    } catch {
      // It does not exist, or is not empty.
    }
  }
}
