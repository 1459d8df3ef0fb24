import { core } from './addon.js';

export const {
  /** The operating system's number of this thread. */
  systemThreadId,
} = core;

/**
 * Whether the calling thread is the main one. Loading `node:worker_threads` costs some 3 ms and
 * 2 MB, so it is asked only where the numbers of the system do not say.
 */
export const isMainThread =
  (process.platform === 'linux' && systemThreadId() === process.pid) ||
  process.getBuiltinModule('node:worker_threads').isMainThread;
