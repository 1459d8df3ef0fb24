import { existsSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import type { TracewrightError } from '../../core/errors.js';
import { isDirectory, sizeOf } from '../../core/files/file-kind.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { ringsElsewhere } from '../../core/recovery/detached-ring.js';
import { discardRing, recoverOwnFile } from '../../core/recovery/recover-file.js';
import { recoverRings } from '../../core/recovery/recover-rings.js';
import type { Candidate } from '../../core/recovery/recover-rings.js';
import { whileLocked } from '../../core/recovery/recovery-lock.js';
import {
  RECOVER_OPTIONS,
  asFault,
  checkWait,
  nothingToRecover,
} from '../../core/recovery/recovery.js';
import type { RecoveredStream, Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import type { RingFile } from '../../core/recovery/ring-file.js';
import { filesBelow, ringsBelow } from '../../core/recovery/ring-search.js';
import { CALLS_FORMAT, fileOfRing, namesRingOf, rankRings, sideFiles } from '../file-names.js';
import { readKeptSections } from '../kept-sections.js';
import { BIASES_BYTES, BODY_OFFSET } from '../layout.js';
import { writeTrailer } from '../trailer.js';
import { recoverNames } from './leftover-names.js';
import { surveyBody, trailerOf } from './rank-trailer.js';
import { completeWithoutRing, ranksWithoutRing } from './recover-without-ring.js';

/** Deletes the files of a rank that was being opened. */
function removeBegun(file: string, callsRing: string): void {
  const { names, sections } = sideFiles(file);
  for (const path of [file, namesRingOf(callsRing), names, sections]) rmSync(path, { force: true });
}

/**
 * Completes a rank's file: the calls that its ring holds, the end of the stream and all sections, as
 * far as the walk over the calls and what was kept next to the ring can say.
 *
 * @returns undefined when the rank had not been opened yet; its file is deleted.
 */
function recoverRank(ring: RingFile, file: string): RecoveredStream | undefined {
  const side = sideFiles(file);
  const namesRing = namesRingOf(ring.path);
  // The process died while it wrote this; what it was to replace is whole.
  rmSync(side.newSections, { force: true });
  const size = sizeOf(file);
  const begun = ring.head > 0 || size > ring.baseOffset;
  // The process died while it opened the rank, or its file was deleted since.
  if (!begun && (size === 0 || !existsSync(side.sections))) {
    removeBegun(file, ring.path);
    return undefined;
  }
  if (!existsSync(side.sections)) {
    // Deleted only when the file was complete: its process died before the ring was.
    rmSync(namesRing, { force: true });
    rmSync(side.names, { force: true });
    return { path: file, bytes: 0, addedRecords: 0 };
  }
  const kept = readKeptSections(side.sections);
  const recovered = recoverOwnFile(ring, file);
  const bodyEnd = ring.baseOffset + ring.head;
  const survey = surveyBody(file, kept.datatypeSizes, bodyEnd);
  const names = recoverNames(namesRing, side.names);
  writeTrailer(file, bodyEnd, trailerOf(kept, survey, ring, names), true);
  // First, for its absence says that the file is complete.
  rmSync(side.sections, { force: true });
  if (!names.isRingLeft) rmSync(namesRing, { force: true });
  rmSync(side.names, { force: true });
  return recovered;
}

/** Whether a ring elsewhere says to feed a file in a directory. */
function isRankBelow(target: string, directory: string): boolean {
  if (!target.endsWith('.bin') || !existsSync(dirname(target))) return false;
  return (realpathSync(dirname(target)) + sep).startsWith(realpathSync(directory) + sep);
}

function* candidates(path: string, options: RecoverOptions): Generator<Candidate, void> {
  const isFile = !isDirectory(path);
  const isMine = (ring: RingFile): boolean => ring.format === CALLS_FORMAT;
  const expected = rankRings(path, undefined, '').calls;
  const rings = isFile
    ? ringsBelow(dirname(path), (name) => name === basename(expected), Infinity)
    : ringsBelow(path, (name) => fileOfRing(name) !== undefined);
  for (const each of rings) {
    const stream = fileOfRing(each);
    yield {
      path: each,
      stream,
      beginning: BODY_OFFSET + BIASES_BYTES,
      streamOf: (ring) => (isMine(ring) ? fileOfRing(each) : undefined),
      removeBegun() {
        const file = fileOfRing(each);
        if (file !== undefined && sizeOf(file) <= BODY_OFFSET + BIASES_BYTES)
          removeBegun(file, each);
      },
    };
  }
  yield* ringsElsewhere(options.ringDir, {
    isMine,
    holds: (file) => (isFile ? file === path : isRankBelow(file, path)),
    files: () => (isFile ? [path] : filesBelow(path, (name) => name.endsWith('.bin'))),
    siblings(file, ring) {
      const { calls, names } = rankRings(file, undefined, '');
      return [
        { from: ring.path, to: calls },
        { from: namesRingOf(ring.path), to: names },
      ];
    },
  });
}

/** Those in which ranks may lie, so that nobody recovers one of them by its own name meanwhile. */
function* directoriesOf(path: string): Generator<string, void> {
  if (!isDirectory(path)) {
    yield dirname(path);
    return;
  }
  yield path;
  const isRank = (name: string) => name.endsWith('.bin') || fileOfRing(name) !== undefined;
  for (const file of filesBelow(path, isRank)) yield dirname(file);
}

/**
 * Completes what a dead process has left of a run's ranks: the calls that their rings still hold, the
 * end of the stream, header, footer, pairs, names and index. A rank whose ring is lost is completed
 * from its file and what was kept next to it. A recovery may be interrupted and repeated.
 *
 * @param path a rank's file, or a directory with the files of a run.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive, or a ring exists
 *   elsewhere; `ERR_TIMEOUT` when another process recovers it for longer than `waitMs`. Nothing is
 *   changed then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  const checked = checkPath('path', path);
  options = ownOptions(options, RECOVER_OPTIONS);
  const waitMs = checkWait(options);
  const isFile = !isDirectory(checked);
  const isNothing =
    candidates(checked, options).next().done === true &&
    ranksWithoutRing(checked, isFile).next().done === true;
  // Most traces are opened where there never was one.
  if (isNothing) return nothingToRecover();
  return whileLocked(directoriesOf(checked), waitMs, () => {
    const result = recoverRings(candidates(checked, options), ({ ring, stream }, _, all) => {
      const recovered = recoverRank(ring, stream);
      if (recovered === undefined) all.emptied.push(stream);
      else all.streams.push(recovered);
      discardRing(ring);
    });
    recoverLost(ranksWithoutRing(checked, isFile), result);
    return result;
  });
}

/** Whether a fault is about this ring. */
function isAboutRing(ring: unknown): (fault: TracewrightError) => boolean {
  return (fault) =>
    (fault instanceof TraceFormatError && fault.path === ring) ||
    (fault.field === 'ringDir' && fault.value === ring);
}

/** Completes ranks whose rings are lost. */
function recoverLost(files: Iterable<string>, result: Recovery): void {
  const refused: TracewrightError[] = [];
  for (const file of files) {
    try {
      result.streams.push(completeWithoutRing(file));
    } catch (error) {
      const fault = asFault(file, error);
      if (fault.code !== 'ERR_ORDER') result.faults.push(fault);
      else if (!result.faults.some(isAboutRing(fault.value))) refused.push(fault);
    }
  }
  addRefused(result, refused);
}

/** Adds what was refused to what was done. @throws the first of it if nothing was done. */
export function addRefused(result: Recovery, refused: readonly TracewrightError[]): void {
  const done = result.streams.length + result.emptied.length + result.faults.length;
  if (done === 0 && refused[0] !== undefined) throw refused[0];
  result.faults.push(...refused);
}
