import { clockNow } from '../../core/clock.js';
import { turnStart } from '../../core/native-calls.js';

/** Stalls that are known: a request that is open for longer may have missed older ones. */
const MOST = 256;

/** Of this thread: from, to, in ns of CLOCK_MONOTONIC. */
const stalls: (readonly [from: number, to: number])[] = [];

/** The event loop of this thread was stalled. */
export function noteStall(from: number, to: number): void {
  stalls.push([from, to]);
  if (stalls.length > MOST) stalls.shift();
}

/**
 * The longest of what the last nanoseconds have of one stall, or of the turn of the event loop that lasts: 0 where
 * nothing watches the loop.
 */
export function longestBlock(ns: number): number {
  const now = Number(clockNow());
  const since = now - ns;
  const turn = turnStart();
  const ofTurn = turn === 0 ? 0 : now - Math.max(turn, since);
  return stalls.reduce(
    (longest, [from, to]) => Math.max(longest, to - Math.max(from, since)),
    ofTurn,
  );
}
