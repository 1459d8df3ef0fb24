import { readFileSync, readlinkSync } from 'node:fs';
import { hasCode } from '../files/system-error.js';

/** Distinguishes a process from another with the same pid: native/process/process_identity.h. */
export interface ProcessIdentity {
  pid: number;
  /** Field 22 of `/proc/<pid>/stat`, in decimal; `0` where there is none. */
  start: string;
  /** The boot of the machine, empty where it does not say. */
  boot: string;
  /** The namespace in which it has its pid; undefined: not known. */
  pidNamespace?: string;
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Reads `/proc/<pid>/stat`. @throws where there is none. */
export function statOf(pid: number | 'self'): { state: string; parent: number; start: string } {
  // Field 2 is the name in parentheses and may hold anything; fields are counted from its end.
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), start: fields[19] ?? '0' };
}

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  if (process.platform !== 'linux') return { pid, start: '0', boot: '' };
  // Not by the number: /proc may be that of another pid namespace.
  const namespace = pidNamespace();
  return {
    pid,
    start: statOf('self').start,
    boot: bootId(),
    ...(namespace === undefined ? {} : { pidNamespace: namespace }),
  };
}

/** Whether it is that of this very process: the first of every container has the same pid. */
export function isOwn({ pid, start, boot }: ProcessIdentity): boolean {
  if (pid !== process.pid) return false;
  const own = ownIdentity();
  return start === own.start && boot === own.boot;
}

/** Whether any process of this machine has that pid now. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Whether that very process still runs; where the machine shows less, whether its pid does. */
export function isAlive({ pid, start, boot }: ProcessIdentity): boolean {
  if (pid <= 0 || !isTaken(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    if (boot !== '' && bootId() !== boot) return false;
    const found = statOf(pid);
    // A zombie writes no more.
    if (found.state === 'Z' || found.state === 'X') return false;
    return start === '0' || found.start === start;
  } catch {
    return false;
  }
}
