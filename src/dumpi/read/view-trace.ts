import { existsSync, fstatSync } from 'node:fs';
import { TraceFormatError, TracewrightError } from '../../core/errors.js';
import { kindOf } from '../../core/files/file-kind.js';
import type { FileView } from '../../core/files/file-view.js';
import type { LivingRing } from '../../core/living/living-ring.js';
import {
  copyOwnRing,
  noteMissingRing,
  noteRing,
  openOwnRing,
  ownFileViewer,
} from '../../core/living/own-file-viewer.js';
import { RingDirectories } from '../../core/living/ring-directories.js';
import type { TraceView, TraceViewer } from '../../core/living/trace-view.js';
import type { RingWriter } from '../../core/recovery/lost-ring.js';
import { checkJoin, withEnding } from '../../core/recovery/own-file.js';
import { isOfTraceOwner } from '../../core/recovery/ring-trust.js';
import { CALLS_FORMAT, namesRingOf, rankRings, sideFiles } from '../file-names.js';
import { readKeptSections } from '../kept-sections.js';
import { trailerChunks } from '../trailer.js';
import { countNames } from './leftover-names.js';
import { surveyBody, trailerOf } from './rank-trailer.js';
import { isComplete } from './recover-without-ring.js';
import { existingRankFiles, isMetafile } from './run.js';

/**
 * Shows a rank's file, or those of a run, as their rings complete them: with the end of the stream and all
 * sections, also while their processes write them.
 *
 * @returns what shows a rank's file or, by its metafile, a run.
 */
export function traceViewer(): TraceViewer {
  return ownFileViewer((view, path, directories) => {
    for (const file of isMetafile(path) ? existingRankFiles(path) : [path]) {
      view.ofFile(file, (fd) => {
        showRank(view, file, fd, directories);
      });
    }
  });
}

function showRank(view: TraceView, file: string, fd: number, directories: RingDirectories): void {
  const { sections } = sideFiles(file);
  const known = view.faults.length;
  const wasUnfinished = existsSync(sections);
  try {
    showUnfinished(view, file, fd, directories);
  } catch (error) {
    if (!(error instanceof TracewrightError) || existsSync(sections)) throw error;
  }
  if (!wasUnfinished || existsSync(sections)) return;
  // Its process, or a recovery, has completed it meanwhile, and removed what was read here.
  view.faults.length = known;
  view.show(fd, { from: fstatSync(fd).size, bytes: Buffer.alloc(0) });
}

function showUnfinished(
  view: TraceView,
  file: string,
  fd: number,
  directories: RingDirectories,
): void {
  const { sections, names } = sideFiles(file);
  const found = kindOf(sections);
  // Without it the file is complete.
  if (found === undefined) return;
  const status = fstatSync(fd);
  if (!isOfTraceOwner(found, status)) {
    throw new TraceFormatError(sections, 0, 'this is not a file of the owner of the trace');
  }
  const kept = readKeptSections(sections);
  const { calls: nextTo } = rankRings(file, undefined, '');
  const isFormat = (format: string): boolean => format === CALLS_FORMAT;
  const ring = openOwnRing(status, { nextTo, noted: kept.writer.ring, directories, isFormat });
  try {
    if (ring === undefined && isComplete(file)) return;
    const body =
      ring === undefined
        ? bodyWithoutRing(view, file, status.size, kept.writer)
        : bodyOf(view, file, fd, ring);
    if (body === undefined) return;
    view.show(fd, body);
    const bodyEnd = ring === undefined ? undefined : body.from + body.bytes.length;
    const survey = surveyBody(file, kept.datatypeSizes, bodyEnd);
    showNames(view, names, namesRingOf(ring?.path ?? nextTo));
    const trailer = trailerOf(kept, survey, ring, countNames(names));
    const chunks = Array.from(trailerChunks(survey.end, trailer), (chunk) => Buffer.from(chunk));
    const ending = { end: survey.end, bytes: Buffer.concat(chunks), records: 0 };
    view.show(fd, withEnding(body, ending));
  } finally {
    ring?.close();
  }
}

/** The calls of a rank; undefined: it has not been opened yet. */
function bodyOf(view: TraceView, file: string, fd: number, ring: LivingRing): FileView | undefined {
  const copy = copyOwnRing(ring);
  const { from, bytes, page } = copy;
  if (page.head === 0 && fstatSync(fd).size < page.baseOffset) return undefined;
  noteRing(view, { path: file, fd }, ring, copy);
  return { from, bytes };
}

function bodyWithoutRing(
  view: TraceView,
  file: string,
  size: number,
  writer: RingWriter,
): FileView {
  noteMissingRing(view, file, writer, 'calls');
  return { from: size, bytes: Buffer.alloc(0) };
}

/** Shows the names of functions that a ring holds. */
function showNames(view: TraceView, names: string, ringPath: string): void {
  if (!existsSync(names)) return;
  view.ofFile(names, (fd) => {
    const ring = openOwnRing(fstatSync(fd), {
      nextTo: ringPath,
      directories: new RingDirectories(),
      isFormat: () => true,
    });
    if (ring === undefined) return;
    try {
      const copy = copyOwnRing(ring);
      checkJoin(names, fd, ring, copy);
      view.show(fd, copy);
    } finally {
      ring.close();
    }
  });
}
