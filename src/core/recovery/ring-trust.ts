import { closeSync, constants, fstatSync, openSync, statSync, unlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { kindOf } from '../files/file-kind.js';

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
const ROOT = 0;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

const ownUids = new Map<string, number>();
let probes = 0;

/** The owner that a file of this process gets in a directory: network volumes may map users. */
function ownUidIn(directory: string, user: number): number {
  const key = `${user} ${directory}`;
  const known = ownUids.get(key);
  if (known !== undefined) return known;
  let uid = user;
  try {
    const path = join(directory, `.tracewright-${process.pid}-${Date.now()}-${++probes}`);
    const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      ({ uid } = fstatSync(fd));
    } finally {
      closeSync(fd);
      unlinkSync(path);
    }
  } catch {
    // Nothing can be written there.
  }
  ownUids.set(key, uid);
  return uid;
}

/** Whether a file belongs to the effective user of this process; true on a system without users. */
export function isOurs(path: string, { uid }: Pick<Stats, 'uid'>): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === user || uid === ownUidIn(dirname(path), user);
}

/** The file that a ring feeds. */
interface Trace {
  path: string;
  /** Of `fstat` or `lstat`; undefined: there is no such file. */
  status: Stats | undefined;
}

/**
 * Why a ring must not be believed; undefined if it may be. Anybody can put a file into a directory
 * that is shared, and it can name any trace.
 *
 * - It belongs to the effective user of this process, who is also the owner of the trace.
 * - Root believes the rings of another user too, for a trace of that user. Then nobody else may be
 *   able to put files into the directory of the ring.
 * - Nobody can change the ring who cannot change the trace.
 *
 * @param path of the ring.
 * @param ring what `fstat` says of the open file, or `lstat` of the path.
 * @param trace the file that the ring feeds. Without it, as long as the ring has not been read, the
 *   answer is not final.
 */
export function doubtAbout(path: string, ring: Stats, trace?: Trace): string | undefined {
  if (ring.isSymbolicLink()) return 'is a symbolic link';
  if (!ring.isFile()) return 'is not a regular file';
  const ours = isOurs(path, ring);
  if (!ours && process.geteuid?.() !== ROOT) return `belongs to another user (${ring.uid})`;
  if (trace === undefined) return undefined;
  const { status: fed } = trace;
  if ((openTo(ring) & ~opennessOf(fed, ring)) !== 0) {
    return `can be changed by others than its owner (${ring.uid})`;
  }
  if (ours && (fed === undefined || isOurs(trace.path, fed))) return undefined;
  const owner = (fed ?? kindOf(dirname(trace.path)))?.uid;
  if (owner !== ring.uid) {
    return `belongs to user ${ring.uid}, but its trace to user ${owner ?? 'unknown'}`;
  }
  return ours ? undefined : doubtAboutDirectory(dirname(path), ring.uid);
}

/**
 * Whether a ring may be read along with a trace: both have one owner, and nobody can change the ring who
 * cannot change the trace. Creates nothing, unlike {@link doubtAbout}.
 *
 * @param ring what `fstat` says of the open file.
 * @param trace the same of the file that the ring feeds.
 */
export function isOfTraceOwner(ring: Stats, trace: Stats): boolean {
  if (!ring.isFile() || ring.uid !== trace.uid) return false;
  return (openTo(ring) & ~opennessOf(trace, ring)) === 0;
}

/** Like {@link doubtAbout}, of a ring that is only read: nothing is created. */
export function doubtInLooking(ring: Stats, trace: Stats | undefined): string | undefined {
  if (ring.isSymbolicLink()) return 'is a symbolic link';
  if (!ring.isFile()) return 'is not a regular file';
  if (trace === undefined || isOfTraceOwner(ring, trace)) return undefined;
  return ring.uid === trace.uid
    ? `can be changed by others than its owner (${ring.uid})`
    : `belongs to user ${ring.uid}, but its trace to user ${trace.uid}`;
}

/** Bits of a mode by which others than the owner can change a file. */
function openTo({ mode }: Stats): number {
  return mode & (GROUP_WRITES | OTHERS_WRITE);
}

/** Those of a trace that a ring may have too. Volumes of containers are often opened to a group. */
function opennessOf(trace: Stats | undefined, ring: Stats): number {
  if (trace === undefined) return 0;
  return trace.gid === ring.gid ? openTo(trace) : openTo(trace) & OTHERS_WRITE;
}

/** Why another user may have put a file of `user` into a directory. */
function doubtAboutDirectory(path: string, user: number): string | undefined {
  const directory = statSync(path);
  if (directory.uid !== user && directory.uid !== ROOT) {
    return `lies in a directory of another user (${directory.uid})`;
  }
  if (openTo(directory) !== 0 && (directory.mode & STICKY) === 0) {
    return 'lies in a directory in which others can put and replace files';
  }
  return undefined;
}
