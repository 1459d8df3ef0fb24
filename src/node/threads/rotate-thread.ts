import { clockNow } from '../../core/clock.js';
import { systemThreadId } from '../../core/system-thread.js';
import type { ProcessPlan } from '../run/process-plan.js';
import type { LateRequests, ObservedThread } from './observed-thread.js';
import { rotatePieces } from './ovni-rotation.js';
import type { PieceSettings } from './ovni-rotation.js';
import { beginStream } from './thread-stream.js';

/** Takes the calling thread from one piece of the ovni trace to the next. */
export function rotateThread(
  plan: ProcessPlan,
  pieces: PieceSettings,
  observed: ObservedThread,
  requests: LateRequests,
): void {
  const { collections, marks } = observed;
  rotatePieces(pieces, plan.firstTid === systemThreadId(), {
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
