import { clockNow } from '../../core/clock.js';
import { systemThreadId } from '../../core/system-thread.js';
import { completeAtExit } from '../process-end.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { part } from '../warning.js';
import { firstClockOf, rotation } from './begin-ovni.js';
import { GarbageCollections } from './garbage-collections.js';
import type { PieceSettings } from './ovni-rotation.js';
import { COLLECTIONS, STALLS } from './past-mark-kinds.js';
import { PastMarks } from './past-marks.js';
import type { RequestsInFlight } from './requests-in-flight.js';
import { ThreadActivity } from './thread-activity.js';
import { beginStream } from './thread-stream.js';

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
  if (plan.pieces !== undefined) rotate(plan, plan.pieces, observed, requests);
}

/** What takes the calling thread from one piece of the ovni trace to the next. */
function rotate(
  plan: ProcessPlan,
  pieces: PieceSettings,
  observed: ObservedThread,
  requests: LateRequests,
): void {
  const { collections, marks } = observed;
  rotation().rotatePieces(pieces, plan.firstTid === systemThreadId(), {
    begin(stream, begun) {
      beginStream(stream, begun, clockNow(), plan.firstTid);
    },
    leave() {
      collections?.flush();
      for (const each of marks) each.leaveTrace();
    },
    arrive(begun) {
      for (const each of marks) each.enterTrace(begun);
      requests.inFlight?.restate();
    },
  });
}
