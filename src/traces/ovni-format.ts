import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { checkTrace } from '../ovni/read/check.js';
import { chromeEvents } from '../ovni/read/chrome.js';
import { dumpEvents, dumpLine, dumpObject } from '../ovni/read/dump.js';
import { readTraceDirectory } from '../ovni/read/trace-directory.js';
import { recoverTrace } from '../ovni/read/recover.js';
import type { TraceFormat } from './trace-format.js';

/** A loom, process or thread: a directory, or a thread's file of version 1. */
const PART = /^(loom\..+|proc\.\d+|thread\.\d+)$/;
const STREAM_FILE = /^stream\.(json|obs)$/;

function isTraceDirectory(directory: string): boolean {
  if (PART.test(basename(resolve(directory)))) return true;
  return readdirSync(directory).some((name) => PART.test(name) || STREAM_FILE.test(name));
}

/** ovni: a directory of looms, a part of one, or a single stream's file. */
export const ovniFormat: TraceFormat = {
  name: 'ovni',
  clock: 'CLOCK_MONOTONIC',
  rings: {
    isFormat: (format) => format.startsWith('ovni'),
    isRing: (path) => /^\.(?:stream|thread\.\d+)\.ring$/.test(basename(path)),
    // Directories are found, not files.
    fileOf: () => undefined,
  },
  isTraceFile: (path) => STREAM_FILE.test(basename(path)) || /^thread\.\d+$/.test(basename(path)),
  tracesIn(directory) {
    if (isTraceDirectory(directory)) return [directory];
    const below = readdirSync(directory, { withFileTypes: true }).some(
      (entry) => entry.isDirectory() && entry.name === 'ovni',
    );
    const inner = join(directory, 'ovni');
    return below && isTraceDirectory(inner) ? [inner] : [];
  },
  *dump(path, json, { onProgress }) {
    for (const event of dumpEvents(path, onProgress && { onProgress })) {
      yield json ? JSON.stringify({ kind: 'event', ...dumpObject(event) }) : dumpLine(event);
    }
  },
  check: (path, { onProgress }) => checkTrace(path, onProgress && { onProgress }),
  recover: recoverTrace,
  chromeEvents: (path, { onProgress }) => chromeEvents(path, onProgress && { onProgress }),
  epoch(path) {
    for (const { metadata } of readTraceDirectory(path).streams) {
      if (metadata.epoch !== undefined) return metadata.epoch;
    }
    return undefined;
  },
  firstTime(path) {
    for (const { clock } of dumpEvents(path)) return clock;
    return undefined;
  },
};
