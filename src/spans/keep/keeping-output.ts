import { beforeSignal } from '../../core/signals.js';
import { WaitingRing } from '../../core/ring/waiting-ring.js';
import type { Stream } from '../../heph/write/stream.js';
import { withKeep, withThreshold } from '../context/trace-state-entries.js';
import { PARENT_REMOTE } from '../layout.js';
import { observer } from '../observer.js';
import type { Policy } from '../policy.js';
import type { Resource } from '../resource.js';
import type { Span } from '../span.js';
import type { Instant } from '../time.js';
import type { SpanEnding } from '../write/span-ending.js';
import { CountsRecord } from './counts-record.js';
import { DecidedElsewhere } from './elsewhere.js';
import type { Follower } from './elsewhere.js';
import { CALLER, ERROR, KeepDecision, SLOW, UNDECIDED } from './keep-decision.js';
import type { KeepRules } from './keep-options.js';
import { AllRequests } from './request-counts.js';
import type { RequestCounts } from './request-counts.js';
import { hasFailed } from './span-flags.js';
import { FAILED, KEPT, ROOT_WAITS } from './undecided-traces.js';
import { CHOSEN_FROM, usualSpanEnds } from './usual-ends.js';
import type { UsualSpanEnds } from './usual-ends.js';
import { WaitingOutput } from './waiting-output.js';
import type { Judge } from './waiting-traces.js';

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
    const ring = WaitingRing.of(stream.ring);
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
    const attributesOf = (span: Span) => this.attributesOf(span);
    this.#requests = new AllRequests(rules, attributesOf, traces);
    this.#decision = new KeepDecision(rules, attributesOf);
    this.#counts = new CountsRecord(this, this.#requests, operations, traces.times);
    this.#elsewhere = new DecidedElsewhere(traces, this);
    this.#usual = usualSpanEnds(this, traces, this.#elsewhere);
    traces.call[CHOSEN_FROM] = this.#decision.leastOfShare;
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
    if (endTime === undefined && observer === undefined && this.#releaseUsual(span, '')) return;
    const trace = this.traces.find(span.t2, span.t3);
    if (!this.isLocalRoot(span, trace)) {
      this.recordBelow(span, trace, endTime);
      return;
    }
    this.#endRoot(span, trace, endTime);
  }

  override recordWith(
    span: Span,
    ending: SpanEnding,
    number: number,
    text: string,
    isNamed: boolean,
  ): boolean {
    if (!isNamed && this.#usual.mayRelease(span) && this.#usual.release(span, 0)) return true;
    if (this.#releaseUsual(span, isNamed ? text : '')) return true;
    const { traces } = this;
    const trace = traces.find(span.t2, span.t3);
    if (!this.isLocalRoot(span, trace)) {
      return this.recordBelowWith(span, trace, ending, number, text, isNamed);
    }
    // Whoever decides or is decided by attributes wants them.
    if (trace === 0 || this.#rules.decide !== undefined) return false;
    const now = this.timeOf(undefined);
    const duration = Math.max(0, now - span.start);
    const requests = this.#requests.of(span, isNamed ? text : '');
    const reason = this.#reasonFor(span, trace, requests, duration, now);
    const isLast = traces.roots[trace] === 1;
    if (reason === 0 && isLast && (traces.flags[trace]! & KEPT) === 0) {
      this.#releaseRoot(span, trace, requests, duration, now);
      return true;
    }
    if (!super.recordWith(span, ending, number, text, isNamed)) {
      requests.seen--;
      return false;
    }
    this.#afterRoot(trace, reason, requests, duration, false);
    return true;
  }

  override discard(span: Span): void {
    super.discard(span);
    const trace = this.traces.find(span.t2, span.t3);
    if (trace !== 0 && this.isLocalRoot(span, trace)) this.#endOfRoot(trace);
  }

  /** Whoever is called from now on keeps the trace if it is certain here. */
  override stateOf(span: Span): string {
    const { traces } = this;
    const { t0, t1, t2, t3, traceState } = span;
    const trace = traces.find(t2, t3);
    if (trace === 0 ? traces.wasKept(t2, t3) : this.certain(trace) !== 0) {
      return withKeep(traceState);
    }
    if (trace !== 0) traces.share(trace);
    const isShare = this.#decision.byRatio(t0, t1, t2, t3, traceState) !== 0;
    return isShare ? withThreshold(traceState, this.#decision.threshold) : traceState;
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
    if (this.#rules.errors === 'any' && (flags[trace]! & FAILED) !== 0) return ERROR;
    const { surelySlow } = this.#decision;
    if (surelySlow === Infinity) return 0;
    return this.timeOf(undefined) - starts[trace]! > surelySlow ? SLOW : 0;
  }

  byRatio(trace: number): number {
    const [t0, t1, t2, t3] = this.traces.idOf(trace);
    return this.#decision.byRatio(t0, t1, t2, t3, '');
  }

  /** Releases the trace of its only local root, for which nothing speaks; false: nothing has changed. */
  #releaseUsual(span: Span, added: string): boolean {
    const usual = this.#usual;
    if (!usual.mayRelease(span)) return false;
    const requests = this.#requests.of(span, added);
    if (!this.#decision.isUsual(span, requests)) return false;
    if (added === '' && requests.areAlike) this.traces.learn(span, requests.number, true);
    if (!usual.release(span, requests.number)) return false;
    requests.see(usual.lastDuration());
    return true;
  }

  #endRoot(span: Span, trace: number, endTime: Instant | undefined): void {
    const now = this.timeOf(undefined);
    const duration = Math.max(0, this.endOf(endTime, now) - span.start);
    const requests = this.#requests.of(span, '');
    const failed = hasFailed(span.flags);
    const reason = this.#reasonFor(span, trace, requests, duration, now);
    const isKept = trace !== 0 && (this.traces.flags[trace]! & KEPT) !== 0;
    if (reason === 0 && !isKept && (trace === 0 || this.traces.roots[trace] === 1)) {
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
    traces.link(trace);
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
    const { flags, roots } = this.traces;
    const failedWithin = trace !== 0 && (flags[trace]! & FAILED) !== 0;
    const reason = this.#decision.reasonFor(span, failedWithin, requests, duration, now);
    if (trace === 0 || (flags[trace]! & KEPT) !== 0) return reason;
    this.#elsewhere.look(now);
    const isRemote = (span.flags & PARENT_REMOTE) !== 0;
    return this.#elsewhere.reasonFor(trace, isRemote, reason, roots[trace] === 1);
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
