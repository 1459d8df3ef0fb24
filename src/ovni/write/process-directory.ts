import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { anchoredPath } from '../../core/files/anchor.js';
import { isDirectory } from '../../core/files/file-kind.js';
import { makeDirectories, whileDeleted } from '../../core/files/make-directories.js';
import { absolutePath, pathIn } from '../../core/files/path-in.js';
import { hasCode, wrapSystemError } from '../../core/files/system-error.js';
import type { CheckedRingOptions } from '../../core/options/ring-options.js';
import { recordsNothing } from '../../core/off.js';
import { directoryMode } from '../../core/options/file-mode.js';
import { recoverPredecessor } from '../../core/recovery/predecessor.js';
import { PROCESS_METADATA, copyName, loomName, processName, tidOf } from '../file-names.js';

/** Where `procInit` has put the process. */
export interface ProcessDirectory {
  /**
   * The trace directory: the requested one, or the first of `<traceDir>.1`, `<traceDir>.2` … if it
   * already has a process of this loom and pid.
   */
  traceDir: string;
  /** `<traceDir>/loom.<loom>/proc.<pid>`. */
  procDir: string;
}

/** Where a process writes. */
export interface WorkDirectory extends ProcessDirectory {
  /** Where files are written while the process runs: `procDir`, or its directory in `OVNI_TMPDIR`. */
  workDir: string;
}

type DirectoryOptions = Pick<CheckedRingOptions, 'ringDir' | 'fileMode'>;

/** Makes a directory; false if something has its name. */
function makeDirectory(path: string, mode: number): boolean {
  try {
    mkdirSync(anchoredPath(path), { mode });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Claims a directory for this run of the process by creating it, so that two processes never share
 * one. A pid that occurs again (pid 1 in every container) finds the old directory taken, and recovers
 * the trace of its predecessor there. A symbolic link counts as taken, except in the requested path.
 */
function claimProcDir(
  traceDir: string,
  loom: string,
  pid: number,
  { ringDir, fileMode }: DirectoryOptions,
): ProcessDirectory {
  const mode = directoryMode(fileMode);
  for (let run = 0; ; run++) {
    const numbered = run === 0 ? traceDir : `${traceDir}.${run}`;
    const loomDir = pathIn(numbered, loomName(loom));
    const procDir = pathIn(loomDir, processName(pid));
    const claimed = wrapSystemError('traceDir', traceDir, () =>
      whileDeleted(() => {
        makeDirectories(numbered, mode);
        if (run > 0 && !isDirectory(numbered)) return undefined;
        makeDirectory(loomDir, mode);
        return isDirectory(loomDir) ? makeDirectory(procDir, mode) : undefined;
      }),
    );
    if (claimed === undefined) continue;
    if (claimed) return { traceDir: numbered, procDir };
    if (isDirectory(procDir)) {
      // Loaded when it is needed: most processes find no predecessor.
      const { recoverTrace } = require('../read/recover.js') as typeof import('../read/recover.js');
      recoverPredecessor((options) => recoverTrace(procDir, { ...options, ringDir }));
    }
  }
}

/** Claims the directory of a process in a trace directory, and in `OVNI_TMPDIR` if that is set. */
export function claimDirectory(
  traceDir: string,
  loom: string,
  pid: number,
  ring: DirectoryOptions,
): WorkDirectory {
  if (recordsNothing()) {
    const procDir = join(absolutePath(traceDir), loomName(loom), processName(pid));
    return { traceDir: absolutePath(traceDir), procDir, workDir: procDir };
  }
  const claimed = claimProcDir(absolutePath(traceDir), loom, pid, ring);
  const temporary = process.env['OVNI_TMPDIR'];
  const workDir =
    temporary === undefined || temporary === ''
      ? claimed.procDir
      : claimProcDir(absolutePath(temporary), loom, pid, ring).procDir;
  return { ...claimed, workDir };
}

/** Removes a directory after a failure, whose reason may prevent that as well. */
export function removeQuietly(directory: string): void {
  try {
    rmSync(anchoredPath(directory), { recursive: true, force: true });
  } catch {
    // The caller reports the first failure.
  }
}

interface Move {
  from: string;
  to: string;
}

/** Copies files under names that no reader looks for, then renames all of them. */
function copyToTrace(moves: readonly Move[]): void {
  const copies = moves.map(({ from, to }) => {
    return { from, copy: join(dirname(to), copyName(basename(to))), to };
  });
  try {
    for (const { from, copy } of copies) {
      rmSync(copy, { force: true });
      copyFileSync(from, copy, constants.COPYFILE_EXCL);
    }
    for (const { copy, to } of copies) renameSync(copy, to);
  } catch (error) {
    for (const { copy } of copies) rmSync(copy, { force: true });
    throw error;
  }
}

/**
 * Moves finished files from `OVNI_TMPDIR` to the trace: all of them, or none.
 *
 * @param stay whether `OVNI_TMPDIR` keeps a copy.
 * @throws TracewrightError `ERR_SYSTEM`, for example for a full disk.
 */
export function moveToTrace(current: WorkDirectory, names: readonly string[], stay = false): void {
  const moves = names.map((name): Move => {
    return { from: join(current.workDir, name), to: join(current.procDir, name) };
  });
  wrapSystemError('OVNI_TMPDIR', current.workDir, () => {
    for (const { to } of moves) {
      makeDirectories(dirname(to));
      if (!isDirectory(dirname(to))) throw new Error(`${dirname(to)} is a link`);
    }
    if (stay) {
      copyToTrace(moves);
      return;
    }
    try {
      for (const { from, to } of moves) renameSync(from, to);
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error;
      copyToTrace(moves);
      for (const { from } of moves) rmSync(from);
    }
  });
}

/**
 * Version 1: moves the metadata of the process from `OVNI_TMPDIR` to the trace. A copy stays as long as
 * streams are there, because they cannot be read without it.
 */
export function moveProcessMetadata(current: WorkDirectory): void {
  const { workDir, procDir } = current;
  if (workDir === procDir || !existsSync(join(workDir, PROCESS_METADATA))) return;
  const stay = readdirSync(workDir).some((name) => tidOf(name) !== undefined);
  moveToTrace(current, [PROCESS_METADATA], stay);
}

/** Removes the directories of the process in `OVNI_TMPDIR` if they are empty. */
export function removeEmptyWorkDir(current: WorkDirectory): void {
  if (current.workDir === current.procDir) return;
  try {
    rmdirSync(current.workDir);
    rmdirSync(dirname(current.workDir));
  } catch {
    // Threads that still write, or other processes, have files there.
  }
}
