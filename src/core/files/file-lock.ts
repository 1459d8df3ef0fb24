import { core } from '../addon.js';

/** Locks an open file for this process alone, until it is closed; false: another process has the lock. */
export function tryLock(fd: number): boolean {
  return core.tryLock(fd);
}
