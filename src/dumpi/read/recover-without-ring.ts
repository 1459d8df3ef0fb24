import { existsSync, lstatSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import { identityOf, isSameFile } from '../../core/files/file-identity.js';
import { checkRingIsLost, refuseLiveWriter, ringIsThere } from '../../core/recovery/lost-ring.js';
import type { RecoveredStream } from '../../core/recovery/recovery.js';
import { filesBelow } from '../../core/recovery/ring-search.js';
import { doubtAbout } from '../../core/recovery/ring-trust.js';
import { fileOfRing, fileOfSections, namesRingOf, rankRings, sideFiles } from '../file-names.js';
import { readKeptSections } from '../kept-sections.js';
import type { RankWriter } from '../kept-sections.js';
import { writeTrailer } from '../trailer.js';
import { recoverNames } from './leftover-names.js';
import { surveyBody, trailerOf } from './rank-trailer.js';
import { readSections } from './section-reader.js';

/** A rank's file that is not complete, and whose ring is not next to it. */
function isWithoutRing(file: string): boolean {
  return (
    existsSync(file) &&
    existsSync(sideFiles(file).sections) &&
    !ringIsThere({ ring: rankRings(file, undefined, '').calls }, file)
  );
}

/**
 * The incomplete ranks at a path that have no ring next to them.
 *
 * @param path a rank's file, or a directory.
 */
export function* ranksWithoutRing(path: string, isFile: boolean): Generator<string, void> {
  if (isFile) {
    if (isWithoutRing(path)) yield path;
    return;
  }
  for (const each of filesBelow(path, (name) => fileOfSections(name) !== undefined)) {
    const file = fileOfSections(each)!;
    if (isWithoutRing(file)) yield file;
  }
}

/** Another user can put a file next to the rank's, and make it say what they like. */
function checkOwner(file: string, sections: string): void {
  const doubt = doubtAbout(sections, lstatSync(sections), { path: file, status: lstatSync(file) });
  if (doubt === undefined) return;
  throw new TraceFormatError(sections, 0, `this ${doubt}`, { field: 'owner' });
}

/** The ring of the names: next to the file, or where the process had it. */
function namesRing(file: string, writer: RankWriter | undefined): string {
  const nextToFile = rankRings(file, undefined, '').names;
  return existsSync(nextToFile) || writer === undefined ? nextToFile : namesRingOf(writer.ring);
}

/** Whether the file has its sections already: its process died while it deleted what lay next to it. */
export function isComplete(file: string): boolean {
  try {
    readSections(file);
    return true;
  } catch (error) {
    if (error instanceof TraceFormatError) return false;
    throw error;
  }
}

/**
 * Completes a rank's file whose ring is lost: half a call at its end is cut off, and what follows the
 * calls comes from them and from what was kept next to the file. A copy of a file needs no ring.
 *
 * @throws TracewrightError `ERR_ORDER` when its process is alive, or its ring exists elsewhere;
 *   TraceFormatError when something else than calls lies in the file. Nothing is changed then.
 */
export function completeWithoutRing(file: string): RecoveredStream {
  const side = sideFiles(file);
  checkOwner(file, side.sections);
  const kept = readKeptSections(side.sections);
  // A file that replaced the rank's, from a backup say, is its ring's to complete.
  const isCopy = resolve(file) !== kept.writer.file && !isSameFile(identityOf(file), kept.writer);
  const writer = isCopy ? undefined : kept.writer;
  if (writer !== undefined) {
    checkRingIsLost(file, writer, {
      isNextToStream: fileOfRing(writer.ring) !== undefined,
      isUnmoved: resolve(file) === writer.file,
    });
    refuseLiveWriter(file, writer);
  }
  const { size } = lstatSync(file);
  let cutBytes = 0;
  const ringOfNames = namesRing(file, writer);
  const left = [side.sections, side.newSections, side.names];
  if (!isComplete(file)) {
    const survey = surveyBody(file, kept.datatypeSizes);
    if (!survey.isEnded) cutBytes = size - survey.end;
    const names = recoverNames(ringOfNames, side.names);
    writeTrailer(file, survey.end, trailerOf(kept, survey, undefined, names), true);
    if (!names.isRingLeft) left.push(ringOfNames);
  } else left.push(ringOfNames);
  for (const path of left) rmSync(path, { force: true });
  return {
    path: file,
    bytes: 0,
    addedRecords: 0,
    cutBytes: cutBytes || undefined,
    lostRing: writer?.ring,
  };
}
