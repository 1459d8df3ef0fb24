import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Others get three times as much of a processor that has too much to do. */
const NICENESS = 5;

/**
 * Lets the services that are followed go before this process, where a processor has to do for both. Processes
 * that it starts afterwards inherit that.
 */
export function lowerPriority(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, NICENESS);
    } catch {
      // It has ended, or the system does not allow it: everything works without.
    }
  }
}

/** On Linux each thread has a priority of its own. */
function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [process.pid];
  }
}
