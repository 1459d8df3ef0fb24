import { completeAtExit } from '../process-end.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { part } from '../warning.js';
import { firstClockOf } from './begin-ovni.js';
import { GarbageCollections } from './garbage-collections.js';
import { COLLECTIONS, STALLS } from './pauses.js';
import type { LateRequests, ObservedThread } from './observed-thread.js';
import { PastMarks } from './past-marks.js';
import { ThreadActivity } from './thread-activity.js';
import type { Sleep } from './shown-sleeps.js';

const UNSHOWN = 'threads that sleep are shown as running';

/** Observes the calling thread itself, whose ovni stream may be yet to begin. */
export function observeItself(plan: ProcessPlan, hasStream: boolean): ObservedThread {
  const marks: PastMarks[] = [];
  const activity = part('the event loop is not watched', () => new ThreadActivity(plan));
  const collections = part('garbage collections are not traced', () => {
    const hasSpans = plan.heph !== undefined && plan.collectionMs >= 0;
    if (!hasStream && !hasSpans) return undefined;
    const observed = new GarbageCollections();
    if (hasSpans) {
      observed.reportTo((collection) => {
        activity?.collected(collection);
      });
    }
    completeAtExit(observed, marks);
    return observed;
  });
  return { activity, collections, marks };
}

/** What concerns the ovni stream of the thread alone, once it has begun. */
export function observeStream(
  plan: ProcessPlan,
  observed: ObservedThread,
  requests: LateRequests,
): void {
  const { activity, collections, marks } = observed;
  const firstClock = firstClockOf(plan);
  const ofCollections = new PastMarks(COLLECTIONS, firstClock);
  const ofStalls = new PastMarks(STALLS, firstClock);
  marks.push(ofCollections, ofStalls);
  collections?.reportTo(({ kind, from, to }) => {
    ofCollections.record(kind, from, to);
  });
  if (activity !== undefined) activity.marks = ofStalls;
  part(UNSHOWN, () => {
    showSleeps(activity, requests);
  });
  if (plan.pieces === undefined) return;
  const { rotateThread } = require('./rotate-thread.js') as typeof import('./rotate-thread.js');
  rotateThread(plan, plan.pieces, observed, requests);
}

/** What shows sleeps is loaded with the first call. */
function showSleeps(activity: ThreadActivity | undefined, requests: LateRequests): void {
  const sleep = Atomics.wait as Sleep;
  let shown: Sleep | undefined;
  const shows = {
    wait(array: unknown, index: unknown, value: unknown, timeout?: unknown): string {
      shown ??= part(UNSHOWN, () => {
        const late = require('./shown-sleeps.js') as typeof import('./shown-sleeps.js');
        return late.shownSleep(sleep, activity, requests);
      });
      return (shown ??= sleep)(array, index, value, timeout);
    },
  };
  Object.assign(Atomics, shows);
}
