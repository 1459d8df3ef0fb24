import { core } from './addon.js';

/** The operating system's number of this thread. */
export function systemThreadId(): number {
  return core.systemThreadId();
}

export { isMainThread } from './addon.js';
