import { readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDirectory, kindOf } from '../core/file-kind.js';
import { isTaken } from '../core/process-identity.js';
import { RingFile } from '../core/ring-file.js';
import { hasCode } from '../core/system-error.js';
import { recoverTrace as recoverHeph } from '../heph/recover.js';
import { recoverTrace as recoverOvni } from '../ovni/recover.js';

/** A trace that an earlier process has left: an ovni directory, or a Heph file. */
export interface EarlierTrace {
  path: string;
  bytes: number;
  /** When it was last written to, in milliseconds. */
  time: number;
}

const DELETED = '.deleted';
const HEPH_RING = /^\.(.+)\.\d+-\d+-\d+\.ring$/;
/** What the hook writes within a run: a piece, a loom with its processes, a file. */
const PIECE = /^(\d+)\.\d{6,}$/;
const LOOM = /^loom\./;
const PROCESS = /^proc\.(\d+)$/;
const FILE = /-(\d+)(?:-\d+)?(?:\.\d{6,})?\.heph$/;
/** What a process that was killed was about to remove. */
const HALF_REMOVED = /^\.(?:loom\..+|\d+\.\d{6,})\.deleted$/;

interface Content {
  bytes: number;
  time: number;
  rings: string[];
}

/** What lies at a path and below it; what goes away meanwhile is passed over. */
function contentOf(path: string): Content {
  const content: Content = { bytes: 0, time: 0, rings: [] };
  const stats = kindOf(path);
  if (stats === undefined) return content;
  content.time = stats.mtimeMs;
  if (stats.isDirectory()) {
    for (const name of namesIn(path)) {
      const below = contentOf(join(path, name));
      content.bytes += below.bytes;
      content.time = Math.max(content.time, below.time);
      content.rings.push(...below.rings);
    }
  } else if (path.endsWith('.ring')) {
    content.rings.push(path);
  } else {
    content.bytes = stats.size;
  }
  return content;
}

/** The names in a directory; none where there is a link to one, for what that leads to is no trace of ours. */
function namesIn(directory: string): string[] {
  try {
    return isDirectory(directory) ? readdirSync(directory) : [];
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

/** Whether the process that a name tells has ended; false for a name that tells none. */
function hasEnded(name: string, pattern: RegExp): boolean {
  const pid = Number(pattern.exec(name)?.[1] ?? 0);
  return pid > 0 && !isTaken(pid);
}

function ringOwnerIsAlive(path: string): boolean {
  try {
    const ring = RingFile.open(path);
    if (ring instanceof RingFile) ring.close();
    return ring.owner === 'alive';
  } catch {
    // No ring, or none any more: nobody's.
    return false;
  }
}

/** Where the traces of a run are, without those whose processes may still write them. */
function tracesOf(run: string, present: boolean): string[] {
  const ovni = join(run, 'ovni');
  const heph = join(run, 'heph');
  const rings = [ovni, heph].flatMap((directory) => contentOf(directory).rings);
  if (!present && rings.some(ringOwnerIsAlive)) return [];
  const names = namesIn(heph);
  const ringed = names.flatMap((name) => HEPH_RING.exec(name)?.[1] ?? []);
  const files = [...new Set([...names.filter((name) => !name.startsWith('.')), ...ringed])]
    .filter((name) => name.endsWith('.heph') && (!present || hasEnded(name, FILE)))
    .map((name) => join(heph, name));
  if (!present) {
    const names = namesIn(ovni).filter((name) =>
      [LOOM, PIECE, HALF_REMOVED].some((pattern) => pattern.test(name)),
    );
    return [...names.map((name) => join(ovni, name)), ...files];
  }
  const processes = namesIn(ovni).flatMap((name) => {
    if (PIECE.test(name)) return hasEnded(name, PIECE) ? [join(ovni, name)] : [];
    if (!LOOM.test(name)) return [];
    return namesIn(join(ovni, name))
      .filter((each) => hasEnded(each, PROCESS))
      .map((each) => join(ovni, name, each));
  });
  return [...processes, ...files];
}

function isHeph(path: string): boolean {
  return basename(dirname(path)) === 'heph';
}

/** Whether a trace is what the hook writes: a directory or a plain file, or nothing but its rings. */
function isOurs(path: string): boolean {
  const kind = kindOf(path);
  return isHeph(path) ? kind === undefined || kind.isFile() : kind?.isDirectory() === true;
}

/** What another process is recovering is left to it: a service must not start later for that. */
function recover(path: string): void {
  if (isHeph(path)) recoverHeph(path, { waitMs: 0 });
  else recoverOvni(path, { waitMs: 0 });
}

/**
 * Completes what processes that have ended left in the directory of this run and in those of earlier
 * ones, and says what is there. Traces of processes that are alive are left alone.
 *
 * @param present the directory of this run.
 */
export function completeEarlierTraces(present: string, earlier: readonly string[]): EarlierTrace[] {
  const traces: EarlierTrace[] = [];
  for (const run of [...earlier, present]) {
    for (const path of tracesOf(run, run === present).filter(isOurs)) {
      const ringsOf = () =>
        isHeph(path)
          ? namesIn(dirname(path)).filter((name) => HEPH_RING.exec(name)?.[1] === basename(path))
          : contentOf(path).rings;
      if (ringsOf().length > 0) {
        try {
          recover(path);
        } catch {
          // What cannot be recovered stays for `tracewright recover`, which says why.
        }
        if (ringsOf().length > 0) continue;
      }
      const { bytes, time } = contentOf(path);
      if (bytes > 0) traces.push({ path, bytes, time });
    }
  }
  return traces.sort((a, b) => a.time - b.time);
}

/** Deletes the oldest of some traces until the others take no more than `bytes`. */
export function deleteOldest(traces: readonly EarlierTrace[], bytes: number): void {
  let total = traces.reduce((sum, trace) => sum + trace.bytes, 0);
  for (const trace of traces) {
    if (total <= bytes) return;
    remove(trace.path);
    total -= trace.bytes;
  }
}

/** Removes a trace, out of sight at once, and the directories that it leaves empty. */
function remove(path: string): void {
  const directory = dirname(path);
  const hidden = join(directory, `.${basename(path)}${DELETED}`);
  try {
    renameSync(path, hidden);
    rmSync(hidden, { recursive: true, force: true });
    rmdirSync(directory);
    rmdirSync(dirname(directory));
  } catch (error) {
    // Another process was faster, or there is more in them.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].some((code) => hasCode(error, code))) throw error;
  }
}
