import { core } from '../core/addon.js';
import type { PieceSettings } from './ovni-pieces.js';

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
  /** The first thread's number; it counts as the creator of the others. */
  firstTid: number;
}

/** Node's threads share no JavaScript, so the plan is kept in the native core. */
const NOTE = 'node.plan';

/** The plan of this process, unless the calling thread is the first that is traced. */
export function knownPlan(): ProcessPlan | undefined {
  const note = core.getNote(NOTE);
  if (note === '') return undefined;
  const plan = JSON.parse(note) as Omit<ProcessPlan, 'firstClock'> & { firstClock: string };
  return { ...plan, firstClock: BigInt(plan.firstClock) };
}

/** Leaves the plan for the threads that follow. */
export function publishPlan(plan: ProcessPlan): void {
  core.putNote(NOTE, JSON.stringify({ ...plan, firstClock: String(plan.firstClock) }));
}
