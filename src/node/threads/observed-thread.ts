import type { GarbageCollections } from './garbage-collections.js';
import type { PastMarks } from './past-marks.js';
import type { RequestsInFlight } from './requests-in-flight.js';
import type { ThreadActivity } from './thread-activity.js';

/** What counts the open requests of the thread, from the first request on. */
export interface LateRequests {
  inFlight?: RequestsInFlight;
}

/** What is observed of the calling thread itself. */
export interface ObservedThread {
  activity: ThreadActivity | undefined;
  collections: GarbageCollections | undefined;
  /** In its ovni trace. */
  marks: PastMarks[];
}
