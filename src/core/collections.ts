import { core } from './addon.js';

/**
 * Notes the garbage collections of the calling thread until it ends. A second call of a thread does nothing.
 *
 * @param listener is called before the event loop waits, if collections were noted. It throws nothing.
 * @returns false where that cannot be.
 */
export function watchCollections(listener: () => void): boolean {
  return core.watchCollections(listener);
}

/**
 * Moves the oldest collections of the calling thread to `to`: from and to, in nanoseconds of CLOCK_MONOTONIC,
 * and V8's kind of each.
 *
 * @returns how many; 0: there are no more.
 */
export function takeCollections(to: Float64Array): number {
  return core.takeCollections(to);
}

/** Collections of the calling thread that were not noted, because too many waited. */
export function lostCollections(): number {
  return core.lostCollections();
}
