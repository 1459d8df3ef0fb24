import { basename, sep } from 'node:path';
import { kindOf } from '../../core/files/file-kind.js';
import { TraceFormatError } from '../../core/errors.js';
import { isAlive } from '../../core/recovery/process-identity.js';
import { warnOfDamage } from '../../core/recovery/predecessor.js';
import { ringsIn } from '../../core/recovery/ring-search.js';
import { RingFile } from '../../core/recovery/ring-file.js';
import { isDoubt } from '../../core/recovery/recovery-errors.js';
import { hasCode } from '../../core/files/system-error.js';
import { fileOfRing as fileOfHephRing } from '../../heph/file-names.js';
import { streamOfRing } from '../../ovni/file-names.js';
import { recoverTrace as recoverHeph } from '../../heph/read/recover.js';
import { recoverTrace as recoverOvni, writersOf } from '../../ovni/read/recover.js';
import type { StreamOwner } from '../../ovni/metadata-keys.js';
import { contentOfTrace, isHeph } from './trace-content.js';

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

/** A trace that another process is recovering is left to it: a service must not start later for that. */
function recover(path: string, ringDir: string | undefined): void {
  const options = { waitMs: 0, ringDir };
  warnOfDamage(isHeph(path) ? recoverHeph(path, options) : recoverOvni(path, options));
}

/**
 * Recovers the traces of processes that have ended.
 *
 * @param runs the traces of each run.
 * @returns those that no process may still write.
 */
export function recoverEarlier(
  runs: readonly (readonly string[])[],
  ringDir: string | undefined,
): string[] {
  const elsewhere = ringsElsewhere(ringDir);
  const settled: string[] = [];
  for (const ours of runs) {
    const found = ours.map((path) => {
      const writers = writersIn(path);
      const rings = [
        ...contentOfTrace(path).rings.flatMap((ring) => knownRing(ring, fileFedBy(ring))),
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
      settled.push(path);
    }
  }
  return settled;
}

/** The file that a ring next to it feeds. */
function fileFedBy(ring: string): string {
  return fileOfHephRing(ring) ?? streamOfRing(ring);
}
