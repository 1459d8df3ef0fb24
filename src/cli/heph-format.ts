import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { headOfFile } from '../core/files/plain-file.js';
import { checkTrace } from '../heph/read/check.js';
import { chromeEvents } from '../heph/read/chrome.js';
import { dumpLine, dumpObject } from '../heph/read/dump.js';
import { readEpoch } from '../heph/read/epoch.js';
import { EXTENSION, fileOfRing, piecesAmong } from '../heph/file-names.js';
import { EVENT_MAGIC, METADATA_MAGIC } from '../heph/layout.js';
import { readPackets } from '../heph/read/reader.js';
import { recoverTrace } from '../heph/read/recover.js';
import { ringedFiles } from './left-rings.js';
import type { TraceFormat } from './trace-format.js';

const MAGIC_BYTES = 4;

function beginsWithMagic(path: string): boolean {
  const head = headOfFile(path, MAGIC_BYTES);
  if (head.length < MAGIC_BYTES) return false;
  const magic = head.readUInt32BE();
  return magic === EVENT_MAGIC || magic === METADATA_MAGIC;
}

/** Found by their extension, or by their rings: a process may have left nothing else. */
function traceFiles(directory: string): string[] {
  const named = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(EXTENSION))
    .map((entry) => join(directory, entry.name));
  const ringed = ringedFiles(directory, fileOfRing)
    .filter(({ format }) => format === 'heph' || format === undefined)
    .map(({ path }) => path);
  return [...new Set([...named, ...ringed])].sort();
}

/** Heph: files, recognized by their first packet's magic or by their extension. */
export const hephFormat: TraceFormat = {
  name: 'Heph',
  clock: "the time since the trace's epoch",
  isTraceFile: (path) => path.endsWith(EXTENSION) || beginsWithMagic(path),
  tracesIn(directory) {
    const below = readdirSync(directory, { withFileTypes: true }).some(
      (entry) => entry.isDirectory() && entry.name === 'heph',
    );
    return [...traceFiles(directory), ...(below ? traceFiles(join(directory, 'heph')) : [])];
  },
  piecesOf: (path) => piecesAmong(traceFiles(dirname(path)), path),
  *dump(path, json, { onProgress }) {
    for (const packet of readPackets(path, onProgress && { onProgress })) {
      yield json ? JSON.stringify(dumpObject(packet)) : dumpLine(packet);
    }
  },
  check: (path, { onProgress }) => checkTrace(path, onProgress && { onProgress }),
  recover: recoverTrace,
  chromeEvents: (path, { onProgress }) => chromeEvents(path, onProgress && { onProgress }),
  epoch: readEpoch,
  // Such a trace begins close to its zero, whenever that was.
  firstTime: () => 0n,
};
