import { closeSync, constants, openSync } from 'node:fs';
import { core } from '../addon.js';
import { TracewrightError } from '../errors.js';
import { wrapSystemError, hasCode } from '../files/system-error.js';

const POLL_MS = 5;

/** Undefined for a directory that is not there, or may not be read: nothing is recovered in it. */
function openDirectory(path: string): number | undefined {
  try {
    return wrapSystemError('path', path, () =>
      openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK),
    );
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EACCES')) return undefined;
    throw error;
  }
}

/**
 * Does a recovery while no other process or thread does one in the same directories. Their lock goes
 * with the process that has it, and leaves nothing; it is none of those by which rings show
 * that their process lives. What the work goes by must be read within it.
 *
 * @param directories those that hold the streams, whatever part of a trace is recovered.
 * @param waitMs how long another recovery is waited for, in milliseconds.
 * @throws TracewrightError `ERR_TIMEOUT` when it takes longer.
 */
export function whileLocked<T>(directories: Iterable<string>, waitMs: number, work: () => T): T {
  const until = performance.now() + waitMs;
  const held: number[] = [];
  try {
    // All in the same order, lest two wait for each other.
    for (const path of [...new Set(directories)].sort()) {
      const fd = openDirectory(path);
      if (fd === undefined) continue;
      held.push(fd);
      while (!core.tryLock(fd)) {
        if (performance.now() >= until) throw stillLocked(path, waitMs);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
      }
    }
    return work();
  } finally {
    for (const fd of held) closeSync(fd);
  }
}

function stillLocked(path: string, waitMs: number): TracewrightError {
  return new TracewrightError(
    'ERR_TIMEOUT',
    `${path}: another process has been recovering a trace there for more than ${waitMs} ms`,
    { field: 'waitMs', value: waitMs, limit: 'as long as the other recovery takes' },
  );
}
