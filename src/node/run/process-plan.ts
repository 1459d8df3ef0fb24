import { putNote, claimNote, getNote } from '../../core/process-notes.js';
import type { Hosts } from '../../core/settings/kinds.js';
import type { SizeOptions } from '../../core/options/size-limits.js';
import type { LibrarySettings } from '../library-settings.js';

// The hook replaces it, and a thread may wait here within its replacement.
const { wait: sleep } = Atomics;
const LONGEST_SET_UP_MS = 10_000;
const PAUSE_MS = 5;

/**
 * A note that one thread of the process puts and all read. Undefined: the calling thread is the one to
 * put it, or to put an empty one, which leaves it to the next. While another sets up what the note is
 * about, this waits.
 *
 * @throws when the other takes longer than ten seconds.
 */
export function noteOrClaim(name: string): string | undefined {
  const until = Date.now() + LONGEST_SET_UP_MS;
  for (;;) {
    const note = getNote(name);
    if (note !== '') return note;
    if (claimNote(name)) return undefined;
    if (Date.now() > until) throw new Error('another thread is still setting up the traces');
    sleep(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}

/** Where the Heph trace of a process goes. */
export type HephPlan =
  /** It is open, as a file or a socket. */
  | { target: string }
  /** A file that is opened with the first span of the process: the path without pid and extension. */
  | { path: string; sizes: SizeOptions };

/** The ovni trace that a process will have. */
export interface OvniPlan {
  /** Whether streams begin with their threads, and have more than the program's own events. */
  atStart: boolean;
  /** The directory of the run, and whether the process has begun that. */
  directory: string;
  topmost: boolean;
  app: number;
  loom: string;
  version: 1 | 3;
  /** Bytes of events after which it stops; 0: no limit. */
  maxBytes: number;
}

/** The settings of what each thread of a process observes. */
export interface ThreadSettings {
  /** Whether request spans have the number of bytes that were written. */
  requestBytes: boolean;
  /** Milliseconds after which a turn of an event loop is recorded as a stall; 0: loops are not watched. */
  stallMs: number;
  /** Whether a stall has the stacks of its thread. */
  stallStacks: boolean;
  /** How many samples are taken a second of what the thread runs; 0: none. */
  profileHz: number;
  /** Whether it samples what is allocated. */
  profilesHeap: boolean;
  /** Milliseconds from which a garbage collection is a span; -1: none is. */
  collectionMs: number;
  /** Whether requests have context: what the program does meanwhile is below them. */
  context: boolean;
  /** Which requests carry the trace on: none without context. */
  propagation: Hosts;
  /** Which callers decide whether their traces are recorded. */
  trust: readonly string[];
  /** Which libraries are recorded, and what of them. */
  libraries: LibrarySettings;
  /** Whether the OpenTelemetry API is served. */
  otel: boolean;
  /** Which of OpenTelemetry's instrumentations are started: those that are installed, or these. */
  instrumentations: 'auto' | readonly string[];
}

/** Set up by the first traced thread of a process, for the threads that follow. */
export interface ProcessPlan extends ThreadSettings {
  /** See Run. */
  firstClock: bigint;
  /** Undefined: it writes no ovni trace. */
  ovni: OvniPlan | undefined;
  /** Undefined: it writes no Heph trace. */
  heph: HephPlan | undefined;
  /** The first thread's number; it counts as the creator of the others. */
  firstTid: number;
}

/** Node's threads share no JavaScript, so the plan is kept in the native core. */
const NOTE = 'node.plan';

/**
 * The plan of this process, for which a thread waits that another is ahead of. Undefined: the calling
 * thread is the first that is traced, and publishes or forgoes one.
 *
 * @throws when the other takes longer than ten seconds.
 */
export function knownPlan(): ProcessPlan | undefined {
  const note = noteOrClaim(NOTE);
  if (note === undefined) return undefined;
  const plan = JSON.parse(note) as Omit<ProcessPlan, 'firstClock'> & { firstClock: string };
  return { ...plan, firstClock: BigInt(plan.firstClock) };
}

/** Leaves the plan for the threads that follow. */
export function publishPlan(plan: ProcessPlan): void {
  putNote(NOTE, JSON.stringify({ ...plan, firstClock: String(plan.firstClock) }));
}

/** Leaves the plan to the next thread. */
export function forgoPlan(): void {
  putNote(NOTE, '');
}
