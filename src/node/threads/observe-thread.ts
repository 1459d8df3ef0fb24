import { completeAtExit, recordUncaught } from '../process-end.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { part } from '../warning.js';
import { GarbageCollections } from './garbage-collections.js';
import type { RequestsInFlight } from './requests-in-flight.js';
import type { Sleep } from './shown-sleeps.js';
import { ThreadActivity } from './thread-activity.js';

/** @param inFlight counts the open requests of the thread, from the first request on. */
export function observeThread(
  plan: ProcessPlan,
  inFlight: () => RequestsInFlight | undefined,
): void {
  const { heph } = plan;
  const activity =
    heph && part('the event loop is not watched', () => new ThreadActivity(plan, heph));
  const collections = part('garbage collections are not traced', () => {
    if (activity === undefined || plan.collectionMs < 0) return undefined;
    return new GarbageCollections((collection) => {
      activity.collected(collection);
    });
  });
  completeAtExit(activity, collections);
  if (heph !== undefined) recordUncaught();
  part(UNSHOWN, () => {
    showSleeps(activity, inFlight);
  });
}

const UNSHOWN = 'threads that sleep are shown as running';

/** Sleeps are shown by a module that is loaded with the first call. */
function showSleeps(
  activity: ThreadActivity | undefined,
  inFlight: () => RequestsInFlight | undefined,
): void {
  const sleep = Atomics.wait as Sleep;
  let shown: Sleep | undefined;
  const shows = {
    wait(array: unknown, index: unknown, value: unknown, timeout?: unknown): string {
      shown ??= part(UNSHOWN, () => {
        const late = require('./shown-sleeps.js') as typeof import('./shown-sleeps.js');
        return late.shownSleep(sleep, activity, inFlight);
      });
      return (shown ??= sleep)(array, index, value, timeout);
    },
  };
  Object.assign(Atomics, shows);
}
