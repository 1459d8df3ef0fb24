import { restLoop, wakeLoop } from '../../core/native-calls.js';
import { hookStream } from '../../ovni/write/hook-stream.js';
import { Guard } from '../guard.js';
import type { RequestsInFlight } from './requests-in-flight.js';
import type { ThreadActivity } from './thread-activity.js';

/** `Atomics.wait`, with any arguments. */
export type Sleep = (...given: [unknown, unknown, unknown, unknown?]) => string;

/**
 * While the calling thread sleeps in `Atomics.wait` and has nothing to do, as workers of a pool do, its event loop
 * counts as waiting, and its ovni stream says that the thread is paused. Such workers sleep within a turn of their
 * loop, and what looks at it from outside can write neither.
 */
export function shownSleep(
  sleep: Sleep,
  activity: ThreadActivity | undefined,
  inFlight: () => RequestsInFlight | undefined,
): Sleep {
  const guard = new Guard('sleeps of the thread');
  /** Set while a turn is reported: that may sleep itself. */
  let isBusy = false;
  const isIdle = (): boolean => activity?.isIdle !== false && (inFlight()?.count ?? 0) === 0;

  function guarded<T>(what: () => T): T | undefined {
    try {
      return what();
    } catch (error) {
      guard.fail(error);
      return undefined;
    }
  }

  function fallAsleep(): { isTurn: boolean; isPaused: boolean } {
    isBusy = true;
    const isTurn = restLoop();
    isBusy = false;
    return { isTurn, isPaused: hookStream.begun?.pause() === true };
  }

  return (array, index, value, timeout) => {
    if (!guard.on || isBusy || guarded(isIdle) !== true) {
      return sleep(array, index, value, timeout);
    }
    // Most waits of a busy pool end at once.
    const outcome = sleep(array, index, value, 0);
    if (outcome !== 'timed-out' || timeout === 0) return outcome;
    const asleep = guarded(fallAsleep);
    try {
      return sleep(array, index, value, timeout);
    } finally {
      if (asleep?.isTurn === true) wakeLoop();
      if (asleep?.isPaused === true) guarded(() => hookStream.begun?.resume());
    }
  };
}
