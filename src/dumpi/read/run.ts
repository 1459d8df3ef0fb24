import { existsSync } from 'node:fs';
import { TraceFormatError, TracewrightError } from '../../core/errors.js';
import { unlessFaulty } from '../../core/fault.js';
import { nothingToRecover } from '../../core/recovery/recovery.js';
import type { Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import { readSections } from './section-reader.js';
import { rankFiles, readMetafile } from '../metafile.js';
import { nanosecondsOf } from './dump.js';
import { CallCursor } from './reader.js';
import { addRefused, recoverTrace } from './recover.js';

/**
 * One rank's file, or the metafile of a run, which names the files of its ranks: what reads either.
 */

const METAFILE_EXTENSION = '.meta';

/** Whether a path is that of a metafile, by its name. */
export function isMetafile(path: string): boolean {
  return path.endsWith(METAFILE_EXTENSION);
}

/**
 * The files with the calls: the file itself, or those of the ranks that a metafile names.
 *
 * @throws TraceFormatError when the file of a rank is missing; those of the ranks before it have been
 *   yielded.
 */
export function* callFilesOf(path: string): Generator<string, void> {
  if (!isMetafile(path)) {
    yield path;
    return;
  }
  const metafile = readMetafile(path);
  let rank = 0;
  for (const file of rankFiles(path, metafile)) {
    if (!existsSync(file)) {
      const message = `the file of rank ${rank} is missing, ${file}: the run has ${metafile.numprocs} ranks`;
      throw new TraceFormatError(path, 0, message, { field: 'rank', value: rank });
    }
    yield file;
    rank += 1;
  }
}

/** The files of a metafile's ranks, up to the first that does not exist. */
export function existingRankFiles(metafile: string): string[] {
  const files: string[] = [];
  try {
    for (const file of rankFiles(metafile, readMetafile(metafile))) {
      if (!existsSync(file)) break;
      files.push(file);
    }
  } catch {
    // Faults of the metafile are reported when it is read itself.
  }
  return files;
}

/**
 * Recovers a rank's file, or one after the other those that a metafile names. Ranks of live processes
 * are faults then.
 *
 * @throws TracewrightError `ERR_ORDER` when a process is alive and nothing else was recovered.
 */
export function recoverRun(path: string, options: RecoverOptions): Recovery {
  if (!isMetafile(path)) return recoverTrace(path, options);
  const whole = nothingToRecover();
  const refused: TracewrightError[] = [];
  for (const file of existingRankFiles(path)) {
    try {
      const { streams, emptied, faults } = recoverTrace(file, options);
      whole.streams.push(...streams);
      whole.emptied.push(...emptied);
      whole.faults.push(...faults);
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      refused.push(error);
    }
  }
  addRefused(whole, refused);
  return whole;
}

/** The earliest time of a rank's file or a run, in nanoseconds; undefined if no call has one. */
export function firstTimeOf(path: string): bigint | undefined {
  let earliest: bigint | undefined;
  for (const file of callFilesOf(path)) {
    const first = unlessFaulty(() => firstTime(file));
    if (first !== undefined && (earliest === undefined || first < earliest)) earliest = first;
  }
  return earliest;
}

/** That of the first call of a rank's file. */
function firstTime(path: string): bigint | undefined {
  const cursor = CallCursor.ofTrace(readSections(path));
  try {
    const call = cursor.next();
    const times = call?.wall ?? call?.cpu;
    return times === undefined ? undefined : nanosecondsOf(times.start);
  } finally {
    cursor.close();
  }
}
