import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { unlessFaulty, untilFault } from '../../core/fault.js';
import type { OnFault } from '../../core/fault.js';
import { headOfFile } from '../../core/files/regular-file.js';
import { ringFormatAt } from '../../core/recovery/ring-file.js';
import { CALLS_FORMAT, fileOfRing, isRing, rankRings } from '../file-names.js';
import { MAGIC, MAGIC_BYTES } from '../layout.js';
import { checkRun, checkTrace } from './check.js';
import { dump } from './dump.js';
import { dumpi2ascii } from './dumpi2ascii.js';
import { readCalls } from './reader.js';
import { callFilesOf, existingRankFiles, firstTimeOf, isMetafile, recoverRun } from './run.js';
import { readRows } from './rows.js';
import { traceViewer } from './view-trace.js';
import type { JobOptions, TraceFormat } from '../../rows/trace-format.js';

const EXTENSION = '.bin';

function beginsWithMagic(path: string): boolean {
  // A file without permission is one of no format.
  const head = unlessFaulty(() => headOfFile(path, MAGIC_BYTES));
  return head?.length === MAGIC_BYTES && head.readBigUInt64BE() === MAGIC;
}

/** Yields from each file with calls. A fault of one leaves the others. */
function* ofEach<T>(
  path: string,
  onFault: OnFault | undefined,
  each: (file: string) => Iterable<T>,
): Generator<T, void> {
  for (const file of untilFault(onFault, path, () => callFilesOf(path))) {
    yield* untilFault(onFault, file, () => each(file));
  }
}

/** Whether the file has a ring next to it: all of its calls may still be there. */
function hasRing(path: string): boolean {
  const ring = rankRings(path, undefined, '').calls;
  const format = ringFormatAt(ring);
  // A ring that is not ready says nothing but its name.
  return format === undefined
    ? path.endsWith(EXTENSION) && existsSync(ring)
    : format === CALLS_FORMAT;
}

/** DUMPI: files of ranks, recognized by their magic number, and metafiles of runs. */
export const dumpiFormat: TraceFormat = {
  name: 'DUMPI',
  clock: 'the wall clock of the ranks',
  rings: {
    isFormat: (format) => format === CALLS_FORMAT,
    isRing,
    fileOf: fileOfRing,
  },
  isTraceFile: (path) => isMetafile(path) || beginsWithMagic(path) || hasRing(path),
  tracesIn(directory, ringed) {
    const names = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
    const runs = names.filter(isMetafile).map((name) => join(directory, name));
    const ofRuns = new Set(runs.flatMap(existingRankFiles).map((file) => basename(file)));
    const withMagic = names
      .filter((name) => name.endsWith(EXTENSION) && !ofRuns.has(name))
      .map((name) => join(directory, name))
      .filter(beginsWithMagic);
    const alone = new Set([...withMagic, ...ringed.filter((path) => !ofRuns.has(basename(path)))]);
    return [...runs, ...[...alone].sort()];
  },
  dump(path, json, { onProgress, onFault, isBeingWritten }) {
    let next = 0;
    return ofEach(path, onFault, (file) => {
      const rank = isMetafile(path) ? next++ : undefined;
      return dump(file, json, { onProgress }, rank, isBeingWritten?.(file));
    });
  },
  dumpFormats: {
    dumpi2ascii: (path: string, { onProgress, onFault }: JobOptions) =>
      ofEach(path, onFault, (file) => dumpi2ascii(file, { encoding: 'latin1', onProgress })),
  },
  check: (path, { onProgress, isBeingWritten }) =>
    (isMetafile(path) ? checkRun : checkTrace)(path, { isBeingWritten, onProgress }),
  open(path) {
    for (const file of callFilesOf(path)) {
      for (const call of readCalls(file)) if (call.offset >= 0) break;
    }
  },
  unfinishedRules: ['missing-rank'],
  filesOf: (path) => (isMetafile(path) ? existingRankFiles(path) : [path]),
  recover: recoverRun,
  traceViewer,
  rows: readRows,
  content: 'MPI calls',
  // The trace does not say which host's wall clock a rank used.
  epoch: () => undefined,
  firstTime: firstTimeOf,
};
