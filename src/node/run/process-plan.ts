import { claimNote, getNote, putNote } from '../../core/process-notes.js';
import type { ContextSettings } from '../requests/context/propagation-policy.js';
import type { PieceSettings } from '../threads/ovni-rotation.js';

/** What the first traced thread of a process has set up, for the threads that follow. */
export interface ProcessPlan {
  /** See Run. */
  firstClock: bigint;
  /** Whether the process writes an ovni trace. */
  ovni: boolean;
  /** Where its Heph trace goes, if it writes one. */
  hephTarget: string | undefined;
  /** How the ovni trace of the process rotates, if it does. */
  pieces: PieceSettings | undefined;
  /** Whether request spans tell the bytes that were written. */
  requestBytes: boolean;
  /** How traces cross process borders; undefined: requests are recorded without context. */
  context: ContextSettings | undefined;
  /** The first thread's number; it counts as the creator of the others. */
  firstTid: number;
}

/** Node's threads share no JavaScript, so the plan is kept in the native core. */
const NOTE = 'node.plan';

const LONGEST_SET_UP_MS = 10_000;

function publishedPlan(): ProcessPlan | undefined {
  const note = getNote(NOTE);
  if (note === '') return undefined;
  const plan = JSON.parse(note) as Omit<ProcessPlan, 'firstClock'> & { firstClock: string };
  return { ...plan, firstClock: BigInt(plan.firstClock) };
}

/**
 * The plan of this process, for which a thread waits that another is ahead of. Undefined: the calling
 * thread is the first that is traced, and publishes or forgoes one.
 *
 * @throws when the other takes longer than ten seconds.
 */
export function knownPlan(): ProcessPlan | undefined {
  const until = Date.now() + LONGEST_SET_UP_MS;
  const still = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const plan = publishedPlan();
    if (plan !== undefined || claimNote(NOTE)) return plan;
    if (Date.now() > until) throw new Error('another thread is still setting up the traces');
    Atomics.wait(still, 0, 0, 5);
  }
}

/** Leaves the plan for the threads that follow. */
export function publishPlan(plan: ProcessPlan): void {
  putNote(NOTE, JSON.stringify({ ...plan, firstClock: String(plan.firstClock) }));
}

/** Leaves the plan to the next thread. */
export function forgoPlan(): void {
  putNote(NOTE, '');
}
