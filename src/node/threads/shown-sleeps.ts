import { restLoop } from '../../core/native-calls.js';
import { emitTo } from '../../ovni/write/emit.js';
import { thread } from '../../ovni/write/thread.js';
import { Guard } from '../guard.js';
import type { RequestsInFlight } from './requests-in-flight.js';
import type { ThreadActivity } from './thread-activity.js';

/** `Atomics.wait`, with any arguments. */
export type Sleep = (...given: [unknown, unknown, unknown, unknown?]) => string;

/**
 * Has the ovni stream of the calling thread say that the thread is paused while it sleeps in `Atomics.wait` and has
 * nothing to do, as workers of a pool do. They sleep within a turn of their loop, and what looks at it from outside
 * cannot write to the stream.
 */
export function shownSleep(
  sleep: Sleep,
  activity: ThreadActivity | undefined,
  requests: { readonly inFlight?: RequestsInFlight },
): Sleep {
  const guard = new Guard('sleeps of the thread');
  const isIdle = (): boolean => activity?.isIdle !== false && (requests.inFlight?.count ?? 0) === 0;

  function emit(mcv: 'OHp' | 'OHr'): boolean {
    try {
      emitTo(thread, mcv, undefined, undefined);
      restLoop(mcv === 'OHp');
      return true;
    } catch (error) {
      guard.fail(error);
      return false;
    }
  }

  return (array, index, value, timeout) => {
    if (!guard.on || thread.state !== 'running' || !isIdle()) {
      return sleep(array, index, value, timeout);
    }
    // Most waits of a busy pool end at once.
    const outcome = sleep(array, index, value, 0);
    if (outcome !== 'timed-out') return outcome;
    const isPaused = timeout !== 0 && emit('OHp');
    try {
      return sleep(array, index, value, timeout);
    } finally {
      if (isPaused) emit('OHr');
    }
  };
}
