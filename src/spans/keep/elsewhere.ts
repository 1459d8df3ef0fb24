import { CALLER } from './keep-decision.js';
import type { RequestCounts } from './request-counts.js';
import { sharedNow, TRACE_KEPT, TRACE_RELEASED, TRACE_UNDECIDED } from './thread-decisions.js';
import type { WaitingTraces } from './waiting-traces.js';

/** Traces of this thread that wait for another one at most; beyond, the oldest is decided here. */
const MOST = 4096;
const LOOK_NS = 10e6;
const LOOK_MS = 20;

/** A local root that has ended, of a trace that another thread decides about. */
interface Ended {
  readonly trace: number;
  readonly t2: number;
  readonly t3: number;
  readonly requests: RequestCounts;
  readonly duration: number;
  readonly failed: boolean;
}

/** Called with a trace once another thread has decided about it. */
export interface Follower {
  keepFor(trace: number): void;
  releaseFor(trace: number, requests: RequestCounts, duration: number, failed: boolean): void;
}

/** Traces whose local roots have ended here, and that a thread of this process decides about that has others of them. */
export class DecidedElsewhere {
  readonly #traces: WaitingTraces;
  readonly #follower: Follower;
  #ended: Ended[] = [];
  #nextLook = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(traces: WaitingTraces, follower: Follower) {
    this.#traces = traces;
    this.#follower = follower;
  }

  /** Whether other threads have nothing to say of a trace that they do not share, and no trace waits for them. */
  isAlone(isRemote: boolean): boolean {
    return this.#ended.length === 0 && !(isRemote && this.#traces.decisions.areSeveral);
  }

  /**
   * Asks the other threads about a trace whose local root ends.
   *
   * @param reason why this thread keeps it; 0: it would not.
   * @param isLast whether no other local root of it is open here.
   * @param duration nanoseconds since the local root has started.
   * @returns the reason; 0: there is none; -1: it has to wait.
   */
  reasonFor(
    trace: number,
    isRemote: boolean,
    reason: number,
    isLast: boolean,
    duration: number,
  ): number {
    const { decisions, shared } = this.#traces;
    const entry = shared[trace]!;
    if (entry > 0) {
      if (reason !== 0 || !isLast) return reason;
      const [, , t2, t3] = this.#traces.idOf(trace);
      return decisions.release(entry, t2, t3);
    }
    if (!isRemote || !decisions.areSeveral) return reason;
    const [, , t2, t3] = this.#traces.idOf(trace);
    if (reason !== 0) {
      decisions.want(t2, t3, reason);
      return reason;
    }
    const state = decisions.stateOf(t2, t3, sharedNow() - duration / 1e6);
    if (state === TRACE_KEPT) return CALLER;
    return state === TRACE_UNDECIDED && isLast ? -1 : 0;
  }

  /** A trace waits: its last local root was recorded. */
  wait(trace: number, requests: RequestCounts, duration: number, failed: boolean): void {
    const [, , t2, t3] = this.#traces.idOf(trace);
    this.#ended.push({ trace, t2, t3, requests, duration, failed });
    if (this.#ended.length > MOST) this.#follow(this.#ended.shift()!, TRACE_RELEASED);
    this.#lookLater();
  }

  /** Looks, now and then, what others have decided. */
  look(now: number): void {
    if (this.#ended.length === 0 || now < this.#nextLook) return;
    this.#nextLook = now + LOOK_NS;
    this.#look();
  }

  #look(): void {
    const { decisions } = this.#traces;
    const still: Ended[] = [];
    for (const each of this.#ended) {
      // It has begun before the decision.
      const state = decisions.stateOf(each.t2, each.t3, 0);
      if (state === TRACE_UNDECIDED) still.push(each);
      else this.#follow(each, state);
    }
    this.#ended = still;
    if (still.length > 0) this.#lookLater();
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, LOOK_MS).unref();
  }

  #follow({ trace, t2, t3, requests, duration, failed }: Ended, state: number): void {
    // Its number may be another one's by now.
    if (this.#traces.find(t2, t3) !== trace) requests.release(duration, failed);
    else if (state === TRACE_KEPT) this.#follower.keepFor(trace);
    else this.#follower.releaseFor(trace, requests, duration, failed);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#look();
    clearTimeout(this.#timer);
  }
}
