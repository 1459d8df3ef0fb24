import { rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { anchorOwnDirectory, anchoredPath, releaseDirectory } from '../../core/files/anchor.js';
import { kindOf } from '../../core/files/file-kind.js';
import { TraceFormatError } from '../../core/errors.js';
import { isAlive, isTaken } from '../../core/recovery/process-identity.js';
import { warnOfDamage } from '../../core/recovery/predecessor.js';
import { ringsIn } from '../../core/recovery/ring-search.js';
import { RingFile } from '../../core/recovery/ring-file.js';
import { isOurs as isOfUser } from '../../core/recovery/ring-trust.js';
import { isDoubt } from '../../core/recovery/recovery-errors.js';
import { hasCode } from '../../core/files/system-error.js';
import {
  cutEndAt,
  EXTENSION,
  fileOfRing as fileOfHephRing,
  pidOfFile,
  RUN_FOLDER as HEPH_FOLDER,
} from '../../heph/file-names.js';
import {
  loomOf,
  pidOf,
  pieceOf,
  RUN_FOLDER as OVNI_FOLDER,
  streamOfRing,
} from '../../ovni/file-names.js';
import { recoverTrace as recoverHeph } from '../../heph/read/recover.js';
import { recoverTrace as recoverOvni, writersOf } from '../../ovni/read/recover.js';
import type { StreamOwner } from '../../ovni/stream-owner.js';
import { FOLDERS } from './run.js';
import { contentOf, halfRemoved, namesIn, removeTrace } from './trace-content.js';

/** A trace that an earlier process has left: an ovni directory, or a Heph file. */
export interface EarlierTrace {
  path: string;
  bytes: number;
  /** When it was last written to, in milliseconds. */
  time: number;
}

/** The process in the name of a piece of an ovni trace. */
const pidOfPiece = (name: string) => pieceOf(name)?.pid;
/** Whether the hook gives such a name to what it writes within an ovni folder. */
const isNamed = (name: string) => [pidOfPiece, loomOf, pidOf].some((of) => of(name) !== undefined);

/** Whether the process of a name has ended; false for a name without a process. */
function hasEnded(pid: number | undefined): boolean {
  return pid !== undefined && pid > 0 && !isTaken(pid);
}

/** A ring, and whether the process that it names, or one that has it mapped, may be alive. */
interface KnownRing {
  path: string;
  /** The file that it feeds, as it says; empty where it says nothing. */
  target: string;
  /** 0 where it says none. */
  pid: number;
  alive: boolean;
}

/** @param trace that the ring feeds according to its name. */
function knownRing(path: string, trace?: string): KnownRing[] {
  try {
    const ring = RingFile.open(path, trace);
    const { owner, pid } = ring;
    const known = { path, target: '', pid, alive: owner === 'alive' };
    if (!(ring instanceof RingFile)) return [known];
    ring.close();
    if (ring.doubt(trace ?? ring.target) !== undefined) return [];
    return [{ ...known, target: ring.target }];
  } catch (error) {
    if (hasCode(error, 'ENOENT') || isDoubt(error)) return [];
    // Its process is unknown. Recovery leaves a damaged ring unchanged and recovers the others.
    return [{ path, target: '', pid: 0, alive: !(error instanceof TraceFormatError) }];
  }
}

/** The rings in the directory that is set aside for them. */
function ringsElsewhere(ringDir: string | undefined): KnownRing[] {
  try {
    return ringDir === undefined ? [] : [...ringsIn(ringDir)].flatMap((path) => knownRing(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Whether a ring that lies elsewhere feeds a trace; one that says nothing, by the names of both. */
function feeds(ring: KnownRing, path: string, writers: readonly StreamOwner[]): boolean {
  const { target } = ring;
  if (target !== '') return target === path || target.startsWith(path + sep);
  return isHeph(path)
    ? basename(fileOfHephRing(ring.path) ?? '') === basename(path)
    : writers.some((writer) => basename(writer.ring) === basename(ring.path));
}

/** Where the traces of a run are; of this one without those whose processes may still write them. */
function tracesOf(run: string, present: boolean): string[] {
  const ovni = join(run, OVNI_FOLDER);
  const heph = join(run, HEPH_FOLDER);
  const names = namesIn(heph);
  const ringed = names.flatMap((name) => fileOfHephRing(name) ?? []);
  const files = [...new Set([...names.filter((name) => !name.startsWith('.')), ...ringed])]
    .filter((name) => name.endsWith(EXTENSION))
    .filter((name) => !present || hasEnded(pidOfFile(name)))
    .map((name) => join(heph, name));
  const isOne = (name: string, pid: number | undefined) => {
    if (present) return hasEnded(pid);
    const removed = halfRemoved(name);
    return removed === undefined ? pid !== undefined : isNamed(removed);
  };
  const processes = namesIn(ovni).flatMap((name) => {
    if (loomOf(name) === undefined) return isOne(name, pidOfPiece(name)) ? [join(ovni, name)] : [];
    return namesIn(join(ovni, name))
      .filter((each) => isOne(each, pidOf(each)))
      .map((each) => join(ovni, name, each));
  });
  return [...processes, ...files];
}

/** Every number in the name of a trace: one of them is the pid of its process. */
function pidsOf(path: string): number[] {
  return (basename(path).match(/\d+/g) ?? []).map(Number);
}

function writersIn(path: string): StreamOwner[] {
  try {
    return isHeph(path) ? [] : [...writersOf(path)];
  } catch {
    // It goes away meanwhile, or cannot be read.
    return [];
  }
}

function isHeph(path: string): boolean {
  return basename(dirname(path)) === HEPH_FOLDER;
}

/** Whether a trace is what the hook writes: a directory or a regular file, or nothing but its rings. */
function isOurs(path: string): boolean {
  const kind = kindOf(path);
  return isHeph(path) ? kind === undefined || kind.isFile() : kind?.isDirectory() === true;
}

/** What another process is recovering is left to it: a service must not start later for that. */
function recover(path: string, ringDir: string | undefined): void {
  const options = { waitMs: 0, ...(ringDir === undefined ? {} : { ringDir }) };
  warnOfDamage(isHeph(path) ? recoverHeph(path, options) : recoverOvni(path, options));
}

/** Whether an earlier run has been written by the user of this process. */
function isOfOurs(run: string): boolean {
  return FOLDERS.map((name) => join(run, name)).every((path) => {
    const status = kindOf(path);
    return status === undefined || (status.isDirectory() && isOfUser(path, status));
  });
}

/** Holds the directories of earlier runs open while they are read and changed. */
export function whileAnchored<T>(runs: readonly string[], work: () => T): T {
  const held: string[] = [];
  try {
    const ours = runs.filter(isOfOurs);
    for (const path of ours.flatMap((run) => FOLDERS.map((name) => join(run, name)))) {
      if (kindOf(path)?.isDirectory() !== true) continue;
      anchorOwnDirectory(path);
      held.push(path);
    }
    return work();
  } finally {
    held.forEach(releaseDirectory);
  }
}

/**
 * Completes what processes that have ended left in the directory of this run and in those of earlier
 * ones, and says what is there. Traces of processes that are alive are left alone.
 *
 * @param present the directory of this run.
 * @param ringDir where rings lie that are not in the directories of their traces.
 */
export function completeEarlierTraces(
  present: string,
  earlier: readonly string[],
  ringDir: string | undefined,
): EarlierTrace[] {
  const elsewhere = ringsElsewhere(ringDir);
  const traces: EarlierTrace[] = [];
  for (const run of [...earlier.filter(isOfOurs), present]) {
    const ours = tracesOf(run, run === present).filter(isOurs);
    const found = ours.map((path) => {
      const writers = writersIn(path);
      const rings = [
        ...ringsBeside(path).flatMap((ring) => knownRing(ring, fileFedBy(ring))),
        ...elsewhere.filter((ring) => feeds(ring, path, writers)),
      ];
      return { path, rings, writers };
    });
    // A process may rotate: what it has finished is its own as long as it lives.
    const living = new Set(
      found.flatMap(({ rings, writers }) => [
        ...rings.filter(({ alive, pid }) => alive && pid > 0).map(({ pid }) => pid),
        ...writers.filter(isAlive).map(({ pid }) => pid),
      ]),
    );
    for (const { path, rings, writers } of found) {
      if (rings.some(({ alive }) => alive) || pidsOf(path).some((pid) => living.has(pid))) continue;
      if (rings.length + writers.length > 0) {
        try {
          recover(path, elsewhere.length > 0 ? ringDir : undefined);
        } catch {
          // What cannot be recovered stays for `tracewright recover`, which says why.
        }
        if (rings.some((ring) => kindOf(ring.path) !== undefined)) continue;
      }
      const { bytes, time } = contentOf(path);
      if (bytes > 0) traces.push({ path, bytes, time });
    }
  }
  return traces.sort((a, b) => a.time - b.time);
}

/** The file that a ring next to it feeds. */
function fileFedBy(ring: string): string {
  return fileOfHephRing(ring) ?? streamOfRing(ring);
}

function ringsBeside(path: string): string[] {
  if (!isHeph(path)) return contentOf(path).rings;
  const directory = dirname(path);
  return namesIn(directory)
    .filter((name) => fileOfHephRing(name) === basename(path))
    .map((name) => join(directory, name));
}

/** Deletes the oldest of some traces until the others take no more than `bytes`. */
export function deleteOldest(traces: readonly EarlierTrace[], bytes: number): void {
  let total = traces.reduce((sum, trace) => sum + trace.bytes, 0);
  for (const trace of traces) {
    if (total <= bytes) return;
    removeWithDirectories(trace.path);
    total -= trace.bytes;
  }
}

/** Removes a trace, and the directories that it leaves empty. */
function removeWithDirectories(path: string): void {
  try {
    removeTrace(path);
    // What a recovery has cut off it goes along.
    for (const name of isHeph(path) ? namesIn(dirname(path)) : []) {
      const cut = cutEndAt(join(dirname(path), name));
      if (cut?.file === path) rmSync(anchoredPath(cut.path), { force: true });
    }
    // Up to that of the run.
    const levels = pidOf(basename(path)) !== undefined ? 3 : 2;
    for (let at = dirname(path), level = 0; level < levels; at = dirname(at), level++)
      rmdirSync(anchoredPath(at));
  } catch (error) {
    // Another process was faster, or there is more in them.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].some((code) => hasCode(error, code))) throw error;
  }
}
