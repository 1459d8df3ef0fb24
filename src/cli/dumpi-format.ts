import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ChromeEvent } from '../core/chrome-event.js';
import { TracewrightError } from '../core/errors.js';
import { headOfFile } from '../core/files/plain-file.js';
import { nothingToRecover } from '../core/recovery/recover-rings.js';
import type { Recovery, RecoverOptions } from '../core/recovery/recover-rings.js';
import { checkRun, checkTrace } from '../dumpi/read/check.js';
import { chromeEvents, firstTime } from '../dumpi/read/chrome.js';
import { dump } from '../dumpi/read/dump.js';
import { dumpi2ascii } from '../dumpi/read/dumpi2ascii.js';
import { CALLS_FORMAT, fileOfRing, rankRings } from '../dumpi/file-names.js';
import { MAGIC, MAGIC_BYTES } from '../dumpi/layout.js';
import { rankFiles, readMetafile } from '../dumpi/metafile.js';
import { recoverTrace } from '../dumpi/read/recover.js';
import { formatOfRing, ringedFiles } from './left-rings.js';
import type { JobOptions, TraceFormat } from './trace-format.js';

const EXTENSION = '.bin';
const META_EXTENSION = '.meta';

function beginsWithMagic(path: string): boolean {
  const head = headOfFile(path, MAGIC_BYTES);
  return head.length === MAGIC_BYTES && head.readBigUInt64BE() === MAGIC;
}

function isMetafile(path: string): boolean {
  return path.endsWith(META_EXTENSION);
}

/** The files that hold the calls: the file itself, or those of the ranks that a metafile names. */
function* filesOf(path: string): Generator<string, void> {
  if (isMetafile(path)) yield* rankFiles(path, readMetafile(path));
  else yield path;
}

/** The files of a metafile's ranks, up to the first that is not there. */
function rankFilesOf(metafile: string): string[] {
  const files: string[] = [];
  try {
    for (const file of rankFiles(metafile, readMetafile(metafile))) {
      if (!existsSync(file)) break;
      files.push(file);
    }
  } catch {
    // What is wrong with the metafile is said when it is read for its own sake.
  }
  return files;
}

function* ofEach<T>(path: string, each: (file: string) => Iterable<T>): Generator<T, void> {
  for (const file of filesOf(path)) yield* each(file);
}

/** Whether a process has left the file, or writes it, and its calls may all be in the ring yet. */
function hasRing(path: string): boolean {
  const ring = rankRings(path, undefined, '').calls;
  const format = formatOfRing(ring);
  // One that is not ready yet says nothing but its name.
  return format === undefined
    ? path.endsWith(EXTENSION) && existsSync(ring)
    : format === CALLS_FORMAT;
}

/**
 * Recovers a rank's file, or one after the other those that a metafile names: ranks whose processes are
 * alive are faults then, unless there was nothing to do for the others.
 */
function recover(path: string, options: RecoverOptions): Recovery {
  if (!isMetafile(path)) return recoverTrace(path, options);
  const whole = nothingToRecover();
  const refused: TracewrightError[] = [];
  for (const file of rankFilesOf(path)) {
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
  const done = whole.streams.length + whole.emptied.length + whole.faults.length;
  if (done === 0 && refused[0] !== undefined) throw refused[0];
  whole.faults.push(...refused);
  return whole;
}

/** DUMPI: files of ranks, told by their magic, and the metafiles that hold those of a run together. */
export const dumpiFormat: TraceFormat = {
  name: 'DUMPI',
  clock: 'the wall clock of the ranks',
  isTraceFile: (path) => isMetafile(path) || beginsWithMagic(path) || hasRing(path),
  tracesIn(directory) {
    const names = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
    const runs = names.filter(isMetafile).map((name) => join(directory, name));
    const covered = new Set(runs.flatMap(rankFilesOf).map((file) => basename(file)));
    const ringed = ringedFiles(directory, fileOfRing).map(({ path }) => basename(path));
    const alone = [...new Set([...names, ...ringed])]
      .filter((name) => name.endsWith(EXTENSION) && !covered.has(name))
      .map((name) => join(directory, name))
      .filter((path) => hasRing(path) || beginsWithMagic(path));
    return [...runs, ...alone];
  },
  *dump(path, json, { onProgress }) {
    let rank = 0;
    for (const file of filesOf(path)) {
      yield* dump(file, json, onProgress && { onProgress }, isMetafile(path) ? rank++ : undefined);
    }
  },
  dumpFormats: {
    dumpi2ascii: (path: string, { onProgress }: JobOptions) =>
      ofEach(path, (file) =>
        dumpi2ascii(file, { encoding: 'latin1', ...(onProgress && { onProgress }) }),
      ),
  },
  check: (path, { onProgress }) =>
    (isMetafile(path) ? checkRun : checkTrace)(path, onProgress && { onProgress }),
  recover,
  chromeEvents: (path, { onProgress }): Iterable<ChromeEvent> =>
    ofEach(path, (file) => chromeEvents(file, onProgress && { onProgress })),
  // The wall clock of a rank may be any of its host's: the trace does not say.
  epoch: () => undefined,
  firstTime(path) {
    let earliest: bigint | undefined;
    for (const file of filesOf(path)) {
      const first = firstTime(file);
      if (first !== undefined && (earliest === undefined || first < earliest)) earliest = first;
    }
    return earliest;
  },
};
