import { platform } from 'node:process';
import { core } from '../addon.js';
import { isAlive, isOwn } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';

/**
 * Whether the process of a ring still runs: the one that it names (the same pid, boot and start time),
 * or one that has it mapped, which may be in a container where its pid says nothing here.
 */
export type Owner = 'alive' | 'dead';

const LONGEST_LETTING_GO_MS = 300;
const READER_LETTING_GO_MS = 50;

/** The kernel lets go of what a dead process had mapped, but not always at once. */
function staysHeld(fd: number, waitMs: number): boolean {
  const until = Date.now() + waitMs;
  while (core.ringIsHeld(fd)) {
    if (Date.now() > until) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  return false;
}

/**
 * Whose an open ring is, ready or not.
 *
 * @param process that the ring names.
 */
export function ownerOf(fd: number, process: ProcessIdentity): { owner: Owner; isOwn: boolean } {
  const alive = isAlive(process) || staysHeld(fd, LONGEST_LETTING_GO_MS);
  return { owner: alive ? 'alive' : 'dead', isOwn: isOwn(process) };
}

/**
 * Whether the process of a ring that is only read still runs. Takes no lock from a process that does, and
 * waits for less.
 */
export function isRunning(fd: number, process: ProcessIdentity): boolean {
  if (isOfLinuxElsewhere(process)) return false;
  return isAlive(process) || staysHeld(fd, READER_LETTING_GO_MS);
}

/** Like {@link isRunning}, of a process whose ring is not here. */
export function isAliveHere(process: ProcessIdentity): boolean {
  return !isOfLinuxElsewhere(process) && isAlive(process);
}

/** No pid of this system says anything about a process of Linux. */
function isOfLinuxElsewhere({ boot }: ProcessIdentity): boolean {
  return boot !== '' && platform !== 'linux';
}
