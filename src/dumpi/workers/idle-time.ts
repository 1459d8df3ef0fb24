import { performance } from 'node:perf_hooks';
import { shared } from '../../core/process-state.js';
import type { Timing } from '../write/call-starts.js';
import type { Rank } from '../write/rank.js';

const thread = shared('dumpi.idle-time', () => ({
  idleMs: 0,
  /** When its last call ended, in nanoseconds since the rank's bias. */
  lastCall: 0,
}));

/** Notes that a call of this thread ends now. */
export function busyUntilNow({ ring }: Rank): void {
  ring.readStamp();
  thread.lastCall = ring.stamp[0]!;
}

/**
 * When the thread began to wait for a message that arrives now. That is as long ago as its event loop
 * has been idle since the last message, but not before its last call.
 */
export function waitingSince(now: Timing): Timing {
  // An object where records hold more than wall time. Its CPU time stays: waiting takes none.
  const timing: unknown = now;
  const detailed = typeof timing === 'number' ? undefined : (timing as { wall: number });
  const ns = detailed === undefined ? (timing as number) : detailed.wall;
  const idle = performance.nodeTiming.idleTime;
  const since = Math.min(Math.max(thread.lastCall, ns - (idle - thread.idleMs) * 1e6), ns);
  thread.idleMs = idle;
  if (detailed === undefined) return since as unknown as Timing;
  detailed.wall = since;
  return now;
}
