import { beforeSignal } from '../../core/signals.js';
import { CHOSEN_FROM, WaitingRing } from '../../core/ring/waiting-ring.js';
import type { Stream } from '../../heph/write/stream.js';
import { keptUntil, withKeep, withoutKeep, withThreshold } from '../context/trace-state-entries.js';
import { KINDS, PARENT_REMOTE } from '../layout.js';
import { observer } from '../observer.js';
import type { Policy } from '../policy.js';
import type { Resource } from '../resource.js';
import type { Span } from '../span.js';
import type { Instant } from '../time.js';
import { CountsRecord } from './counts-record.js';
import { DecidedElsewhere } from './elsewhere.js';
import type { Follower } from './elsewhere.js';
import { CALLER, KeepDecision, UNDECIDED } from './keep-decision.js';
import type { KeepRules } from './keep-options.js';
import { AllRequests } from './request-counts.js';
import { holdsUntil } from './waiting-starts.js';
import { LATE_MS } from './late-spans.js';
import type { RequestCounts } from './request-counts.js';
import { hasFailed, kindOf } from './span-flags.js';
import {
  BY_MESSAGE,
  FAILED,
  KEPT,
  LIMITED,
  RELEASED,
  ROOT_WAITS,
  SENT,
  WAITING_FORMAT,
} from './waiting-traces.js';
import type { Judge } from './waiting-traces.js';
import { usualSpanEnds } from './usual-ends.js';
import type { UsualSpanEnds } from './usual-ends.js';
import { WaitingOutput } from './waiting-output.js';

const CLIENT = KINDS.indexOf('client');

/** The spans of a thread whose local roots decide, when they end, which traces are kept. */
export class KeepingOutput extends WaitingOutput implements Judge, Follower {
  readonly #rules: KeepRules;
  readonly #requests: AllRequests;
  readonly #decision: KeepDecision;
  readonly #counts: CountsRecord;
  readonly #elsewhere: DecidedElsewhere;
  readonly #usual: UsualSpanEnds;
  readonly #atExit = (): void => {
    this.finish();
  };
  readonly #forgetSignal = beforeSignal(() => {
    this.#recordCounts();
  });
  /** Local roots that wait for another one of their trace, by its number. */
  readonly #waitingRoots = new Map<number, [RequestCounts, number, boolean][]>();

  /** @returns undefined if nothing can wait in the stream's ring. */
  static open(
    stream: Stream,
    policy: Policy,
    resource: Resource,
    rules: KeepRules,
  ): KeepingOutput | undefined {
    const ring = WaitingRing.of(stream.ring, WAITING_FORMAT);
    return ring && new KeepingOutput(stream, ring, policy, resource, rules);
  }

  private constructor(
    direct: Stream,
    ring: WaitingRing,
    policy: Policy,
    resource: Resource,
    rules: KeepRules,
  ) {
    super(direct, ring, policy, resource);
    const { traces, operations } = this;
    traces.judge = this;
    this.#rules = rules;
    this.#requests = new AllRequests(rules, this, traces);
    this.#decision = new KeepDecision(rules, this);
    this.#counts = new CountsRecord(this, this.#requests, operations, ring.shared.times);
    this.#elsewhere = new DecidedElsewhere(traces, this);
    this.#usual = usualSpanEnds(this, traces, this.#elsewhere);
    ring.shared.words[CHOSEN_FROM] = this.#decision.leastOfShare;
    traces.decisions.count(true);
    process.once('exit', this.#atExit);
  }

  override record(span: Span, endTime: Instant | undefined): void {
    // Small enough that V8 inlines it where spans end.
    if (endTime !== undefined || observer !== undefined || !this.#usual.end(span)) {
      this.#recordOther(span, endTime);
    }
  }

  #recordOther(span: Span, endTime: Instant | undefined): void {
    if (endTime === undefined && observer === undefined && this.#releaseUsual(span)) return;
    const trace = this.traces.find(span.t2, span.t3);
    if (!this.isLocalRoot(span, trace)) {
      this.recordBelow(span, trace, endTime);
      return;
    }
    this.#endRoot(span, trace, endTime);
  }

  override discard(span: Span): void {
    super.discard(span);
    const trace = this.traces.find(span.t2, span.t3);
    if (trace !== 0 && this.isLocalRoot(span, trace)) this.#endOfRoot(trace);
  }

  /** Who is called from now on keeps the trace if it is certain here. */
  override stateOf(span: Span): string {
    const { traces } = this;
    const { t0, t1, t2, t3, traceState } = span;
    const trace = traces.find(t2, t3);
    const until = trace === 0 ? this.#keptAfter(span) : this.#keptBelow(span, trace);
    if (until > 0) return withKeep(traceState, until);
    if (trace !== 0) traces.share(trace);
    const plain = withoutKeep(traceState);
    const isShare = this.#decision.byRatio(t0, t1, t2, t3, plain) !== 0;
    return isShare ? withThreshold(plain, this.#decision.threshold) : plain;
  }

  /** Until when a trace is kept where a span of it calls, in milliseconds since 1970; 0: it is not. */
  #keptBelow(span: Span, trace: number): number {
    const { flags, reasons } = this.traces;
    if ((flags[trace]! & RELEASED) !== 0) return 0;
    if ((flags[trace]! & KEPT) === 0) {
      // A rule of the program has the last word.
      if (this.#rules.decide !== undefined) return 0;
      const reason = this.certain(trace);
      if (reason === 0) return 0;
      this.keep(trace, reason);
    }
    if (reasons[trace] !== CALLER) return Date.now() + LATE_MS;
    const isByMessage = (flags[trace]! & BY_MESSAGE) !== 0;
    const until = this.#passedOn(span, isByMessage);
    if (until === 0 || (flags[trace]! & SENT) !== 0) return until;
    if ((flags[trace]! & LIMITED) !== 0 || !this.#isWithinLimit('passed on', span)) {
      flags[trace]! |= LIMITED;
      return 0;
    }
    flags[trace]! |= SENT;
    return until;
  }

  /** The same of a trace that was decided. */
  #keptAfter(span: Span): number {
    const { t2, t3, traceState } = span;
    let until: number;
    if (keptUntil(traceState) !== 0) until = this.#passedOn(span, true);
    else {
      const time = this.traces.keptAt(t2, t3);
      if (time === 0) return 0;
      until = Math.round(Date.now() + LATE_MS - (this.traces.now() - time) / 1e6);
      if (!holdsUntil(until)) return 0;
    }
    return until !== 0 && this.#isWithinLimit('late', span) ? until : 0;
  }

  /** The decision of a caller, as long as it holds. From message to message it goes once. */
  #passedOn({ flags, traceState }: Span, isByMessage: boolean): number {
    if (isByMessage && kindOf(flags) !== CLIENT) return 0;
    const until = keptUntil(traceState);
    if (!holdsUntil(until)) return 0;
    return until === Infinity ? Date.now() + LATE_MS : until;
  }

  #isWithinLimit(kind: string, { t0, t1, t2, t3 }: Span): boolean {
    return this.#decision.within(kind, 'caller', [t0, t1, t2, t3], this.timeOf(undefined)) !== 0;
  }

  /** Copies or lets go of what is not decided, and records what was counted. The thread or the trace ends. */
  override finish(): void {
    process.off('exit', this.#atExit);
    this.#forgetSignal();
    this.#counts.stop();
    try {
      this.#elsewhere.stop();
      this.traces.keepAll(UNDECIDED);
    } catch {
      // The trace is closed.
    }
    this.#recordCounts();
    this.traces.decisions.count(false);
  }

  #recordCounts(): void {
    try {
      this.#counts.write(this.timeOf(undefined));
    } catch {
      // The trace is closed.
    }
  }

  certain(trace: number): number {
    const { flags, reasons, starts } = this.traces;
    if ((flags[trace]! & KEPT) !== 0) return reasons[trace]!;
    if ((flags[trace]! & LIMITED) !== 0) return 0;
    const hasFailedWithin = this.#rules.errors === 'any' && (flags[trace]! & FAILED) !== 0;
    const { surelySlow } = this.#decision;
    if (!hasFailedWithin && surelySlow === Infinity) return 0;
    const now = this.timeOf(undefined);
    if (!hasFailedWithin && !(now - starts[trace]! > surelySlow)) return 0;
    const type = hasFailedWithin ? 'error' : 'slow';
    const reason = this.#decision.within(`certain ${type}`, type, this.traces.idOf(trace), now);
    if (reason === 0) flags[trace]! |= LIMITED;
    return reason;
  }

  byRatio(trace: number): number {
    const [t0, t1, t2, t3] = this.traces.idOf(trace);
    return this.#decision.byRatio(t0, t1, t2, t3, '');
  }

  /** Releases the trace of its only local root, for which nothing speaks; false: nothing has changed. */
  #releaseUsual(span: Span): boolean {
    const usual = this.#usual;
    if (!usual.mayRelease(span)) return false;
    const requests = this.#requests.of(span);
    if (!this.#decision.isUsual(span, requests)) return false;
    if (requests.areAlike) this.traces.learn(span, requests.number, true);
    if (!usual.release(span, requests.number)) return false;
    requests.see(usual.lastDuration());
    return true;
  }

  #endRoot(span: Span, trace: number, endTime: Instant | undefined): void {
    const now = this.timeOf(undefined);
    const duration = Math.max(0, this.endOf(endTime, now) - span.start);
    const requests = this.#requests.of(span);
    const failed = hasFailed(span.flags);
    const reason = this.#reasonFor(span, trace, requests, duration, now);
    if (reason === 0 && (trace === 0 || this.traces.roots[trace] === 1)) {
      this.#releaseRoot(span, trace, requests, duration, now);
      return;
    }
    super.record(span, endTime);
    if (trace === 0) this.copyLate(reason);
    else this.#afterRoot(trace, reason, requests, duration, failed);
  }

  /** A local root was recorded: it waits with its trace. */
  #afterRoot(
    trace: number,
    reason: number,
    requests: RequestCounts,
    duration: number,
    failed: boolean,
  ): void {
    const { traces } = this;
    traces.link(trace, 0);
    if ((traces.flags[trace]! & KEPT) !== 0) this.copy(trace);
    else if (reason > 0) this.keep(trace, reason);
    else if (reason !== 0) {
      this.#elsewhere.wait(trace, requests, duration, failed);
      return;
    } else {
      const others = this.#waitingRoots.get(trace) ?? [];
      others.push([requests, duration, failed]);
      this.#waitingRoots.set(trace, others);
      traces.flags[trace]! |= ROOT_WAITS;
    }
    this.#endOfRoot(trace);
  }

  #endOfRoot(trace: number): void {
    const { roots } = this.traces;
    roots[trace]!--;
    if (roots[trace]! <= 0) this.forget(trace);
  }

  forget(trace: number): void {
    const { traces } = this;
    const others =
      (traces.flags[trace]! & ROOT_WAITS) === 0 ? undefined : this.#waitingRoots.get(trace);
    if (others !== undefined) {
      this.#waitingRoots.delete(trace);
      if ((traces.flags[trace]! & KEPT) === 0) {
        for (const [requests, duration, failed] of others) requests.release(duration, failed);
      }
    }
    traces.forget(trace);
  }

  #releaseRoot(
    span: Span,
    trace: number,
    requests: RequestCounts,
    duration: number,
    now: number,
  ): void {
    requests.release(duration, hasFailed(span.flags));
    this.drop(span);
    if (trace !== 0) this.#endOfRoot(trace);
    this.#counts.note(now);
  }

  /** Why the trace of a local root that ends is kept; 0: there is no reason; -1: another thread knows. */
  #reasonFor(
    span: Span,
    trace: number,
    requests: RequestCounts,
    duration: number,
    now: number,
  ): number {
    const { flags: allFlags, reasons, roots } = this.traces;
    const flags = trace === 0 ? 0 : allFlags[trace]!;
    if ((flags & KEPT) !== 0) {
      requests.see(duration);
      return reasons[trace]!;
    }
    const failedWithin = (flags & FAILED) !== 0;
    const isLimited = (flags & LIMITED) !== 0;
    const reason = this.#decision.reasonFor(span, failedWithin, isLimited, requests, duration, now);
    if (trace === 0) return reason;
    this.#elsewhere.look(now);
    const isRemote = (span.flags & PARENT_REMOTE) !== 0;
    return this.#elsewhere.reasonFor(trace, isRemote, reason, roots[trace] === 1, duration);
  }

  keepFor(trace: number): void {
    if ((this.traces.flags[trace]! & KEPT) === 0) this.keep(trace, CALLER);
    this.#endOfRoot(trace);
  }

  releaseFor(trace: number, requests: RequestCounts, duration: number, failed: boolean): void {
    if ((this.traces.flags[trace]! & KEPT) === 0) {
      requests.release(duration, failed);
      this.#counts.note(this.timeOf(undefined));
    }
    this.#endOfRoot(trace);
  }
}
