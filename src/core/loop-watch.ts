import { core } from './addon.js';
import type { NativeLoopListener } from './native-core.js';

/**
 * Watches the event loop of the calling thread until it ends. A second call of a thread does nothing.
 *
 * @param limitMs a turn that takes longer is reported.
 * @param sampleMs between two samples, which come only while the loop turns; 0: there are none.
 * @param hasSpans whether the process records spans: then a thread that sleeps without an open one waits for
 *   work, and is neither busy nor stalled.
 * @returns false where that cannot be.
 */
export function watchLoop(
  limitMs: number,
  sampleMs: number,
  hasSpans: boolean,
  listener: NativeLoopListener,
): boolean {
  return core.watchLoop(limitMs, sampleMs, hasSpans, listener);
}

/** Says whether the calling thread has nothing to do from here on: a watch without spans does not know. */
export function restLoop(on: boolean): void {
  core.restLoop(on);
}
