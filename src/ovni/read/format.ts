import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import {
  RING_FORMAT,
  isPartOfTrace,
  isRingName,
  isStreamFile,
  streamOfRing,
} from '../file-names.js';
import { checkTrace } from './check.js';
import { dumpEvents, dumpLine, dumpObject } from './dump.js';
import { readTraceDirectory } from './trace-directory.js';
import { readStream } from './ordered-reader.js';
import { recoverTrace } from './recover.js';
import { readRows } from './rows.js';
import { traceViewer } from './view-trace.js';
import type { TraceFormat } from '../../rows/trace-format.js';

function isTraceDirectory(directory: string): boolean {
  if (isPartOfTrace(basename(resolve(directory)))) return true;
  return readdirSync(directory).some((name) => isPartOfTrace(name) || isStreamFile(name));
}

/** Reading the events reports faults. */
const ignore = (): void => undefined;

/** ovni: a directory of looms, a part of one, or a single stream's file. */
export const ovniFormat: TraceFormat = {
  name: 'ovni',
  clock: 'CLOCK_MONOTONIC',
  rings: {
    isFormat: (format) => format.startsWith(RING_FORMAT),
    isRing: (path) => isRingName(basename(path)),
    fileOf: streamOfRing,
  },
  isPartOfTrace,
  isTraceFile: (path) => isStreamFile(basename(path)),
  tracesIn(directory) {
    if (isTraceDirectory(directory)) return [directory];
    const below = readdirSync(directory, { withFileTypes: true }).some(
      (entry) => entry.isDirectory() && entry.name === 'ovni',
    );
    const inner = join(directory, 'ovni');
    return below && isTraceDirectory(inner) ? [inner] : [];
  },
  *dump(path, json, { onProgress, onFault }) {
    for (const event of dumpEvents(path, { onFault, onProgress })) {
      yield json ? JSON.stringify({ kind: 'event', ...dumpObject(event) }) : dumpLine(event);
    }
  },
  check: (path, { onProgress }) => checkTrace(path, { onProgress }),
  open(path) {
    for (const stream of readTraceDirectory(path).streams) {
      for (const event of readStream(stream.path, { version: stream.version }))
        if (event.offset >= 0) break;
    }
  },
  unfinishedRules: ['not-finished', 'thread-not-ended', 'mark-left', 'empty-stream'],
  recover: recoverTrace,
  traceViewer,
  rows: readRows,
  content: 'states of threads',
  epoch(path) {
    for (const { metadata } of readTraceDirectory(path, { onFault: ignore }).streams) {
      if (metadata.epoch !== undefined) return metadata.epoch;
    }
    return undefined;
  },
  firstTime(path) {
    for (const { clock } of dumpEvents(path, { onFault: ignore })) return clock;
    return undefined;
  },
};
