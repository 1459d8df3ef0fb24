import { readdirSync, readFileSync } from 'node:fs';
import { hasCode } from '../core/files/system-error.js';

/**
 * Descriptors that must be free when a process begins to be traced. The trace takes six, and some more for
 * moments; the rest is for the connections of the service.
 */
export const LEAST_FREE = 32;

/**
 * How many descriptors the process may still open: the soft limit less those that are open. Infinite where the
 * system does not say.
 */
export function freeDescriptors(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    // One of them is that of the listing itself.
    return limit - (readdirSync('/proc/self/fd').length - 1);
  } catch (error) {
    return hasCode(error, 'EMFILE') ? 0 : Infinity;
  }
}
