import type { OpenRecords } from '../../core/ring/open-records.js';
import { WaitingRing } from '../../core/ring/waiting-ring.js';
import { Stream } from '../../heph/write/stream.js';
import type { StreamTrace } from '../../heph/write/stream.js';
import { isKept, withKeep, withThreshold } from '../context/trace-state-entries.js';
import {
  KEEP_REASONS,
  KEEP_WEIGHT_SHIFT,
  KEEP_WEIGHT_UNIT,
  KIND_MASK,
  KIND_SHIFT,
  KINDS,
  PARENT_REMOTE,
  RELEASED_COUNT,
  RELEASED_DESCRIPTION,
  RELEASED_DURATIONS,
  RELEASED_ERRORS,
  RELEASED_KIND,
  RELEASED_NAME,
  RELEASED_RESOURCE,
  RELEASED_ROUTE,
  RELEASED_TIME,
  STATUS_MASK,
  STATUS_SHIFT,
} from '../layout.js';
import type { KeepReason } from '../layout.js';
import { observer } from '../observer.js';
import type { Policy } from '../policy.js';
import type { Resource } from '../resource.js';
import { isInShare, shareSampler } from '../sampling.js';
import type { Sampler } from '../sampling.js';
import type { Span } from '../span.js';
import type { Instant } from '../time.js';
import type { OpenSpans } from '../write/open-spans.js';
import type { SpanEnding } from '../write/span-ending.js';
import { letGo, SpanOutput } from '../write/span-output.js';
import { KeepLimit } from './error-limit.js';
import { KeepingOpenSpans } from './keeping-open-spans.js';
import type { KeepRules } from './keep-options.js';
import { AllRequests } from './request-counts.js';
import type { RequestCounts } from './request-counts.js';
import { BEGINS_WITHIN, FAILED, KEPT, RELEASED, WaitingTraces } from './waiting-traces.js';
import type { Judge } from './waiting-traces.js';

const STATUS_ERROR = 2;
/** Nanoseconds between records of what was released. */
const COUNTS_INTERVAL = 10e9;
const COUNTS_MS = 10_000;

function codeOf(reason: KeepReason, share = 1): number {
  const weight = Math.round(Math.log2(1 / share) * KEEP_WEIGHT_UNIT);
  return KEEP_REASONS.indexOf(reason) | (weight << KEEP_WEIGHT_SHIFT);
}

const UNDECIDED = codeOf('undecided');
const SLOW = codeOf('slow');
const ERROR = codeOf('error');
const FIRST = codeOf('first');
const CALLER = codeOf('caller');
const CHOSEN = codeOf('chosen');

function hasFailed({ flags }: Span): boolean {
  return ((flags >> STATUS_SHIFT) & STATUS_MASK) === STATUS_ERROR;
}

/** What a trace is to those who write into a ring where its events wait. */
function waitingTrace(trace: StreamTrace, ring: WaitingRing): StreamTrace {
  return {
    ring,
    packetLimit: trace.packetLimit,
    started: trace.started,
    lenient: trace.lenient,
    enabled: trace.enabled,
    writesThrough: false,
    epochUnix: trace.epochUnix,
    clock: trace.clock,
    clockAtZero: trace.clockAtZero,
    shapes: undefined,
    refuseIfClosed: () => {
      trace.refuseIfClosed();
    },
    define: (key, packetOf) => trace.define(key, packetOf),
    flush: () => trace.flush(),
  };
}

/** The spans of a thread, which wait until it is known whether their trace is kept. */
export class KeepingOutput extends SpanOutput implements Judge {
  declare readonly traces: WaitingTraces;
  readonly #rules: KeepRules;
  readonly #requests: AllRequests;
  readonly #limit: KeepLimit;
  readonly #sampler: Sampler;
  readonly #ratio: number;
  /** From how many nanoseconds on a local root of any route is slow. */
  readonly #surelySlow: number;
  readonly #atExit = (): void => {
    this.finish();
  };
  #nextCounts = Infinity;
  #countsSince = 0;
  #timer: NodeJS.Timeout | undefined;
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
    const stream = new Stream(waitingTrace(direct.trace, ring), direct.id);
    super(stream, policy, resource, direct);
    const traces = new WaitingTraces(ring, direct);
    Object.defineProperty(this, 'traces', { value: traces });
    (this.open as KeepingOpenSpans).traces = traces;
    traces.judge = this;
    this.#rules = rules;
    this.#requests = new AllRequests(rules);
    this.#limit = new KeepLimit(rules.limit);
    this.#sampler = shareSampler(rules.ratio);
    this.#ratio = codeOf('ratio', rules.ratio === 0 ? 1 : rules.ratio);
    const limits = [rules.slow, ...rules.routes.values()].map(({ ns }) => ns);
    this.#surelySlow = Math.max(...limits);
    process.once('exit', this.#atExit);
  }

  protected override openSpansIn(table: OpenRecords): OpenSpans {
    return new KeepingOpenSpans(this, table);
  }

  override record(span: Span, endTime: Instant | undefined): void {
    const { traces } = this;
    const trace = traces.find(span.t2, span.t3);
    if (this.#isLocalRoot(span, trace)) {
      this.#endRoot(span, trace, endTime);
      return;
    }
    if (trace === 0) {
      this.#endLate(span, endTime);
      return;
    }
    if ((traces.flags[trace]! & RELEASED) !== 0) {
      this.#drop(span);
      return;
    }
    if (hasFailed(span)) traces.flags[trace]! |= FAILED;
    super.record(span, endTime);
    this.#wait(trace);
  }

  override recordWith(
    span: Span,
    ending: SpanEnding,
    number: number,
    text: string,
    isNamed: boolean,
  ): boolean {
    const { traces } = this;
    const trace = traces.find(span.t2, span.t3);
    if (!this.#isLocalRoot(span, trace)) {
      if (trace === 0 || (traces.flags[trace]! & RELEASED) !== 0) return false;
      if (!super.recordWith(span, ending, number, text, isNamed)) return false;
      this.#wait(trace);
      return true;
    }
    // Whoever decides or is decided by attributes wants them.
    if (trace === 0 || this.#rules.decide !== undefined) return false;
    const now = this.timeOf(undefined);
    const duration = Math.max(0, now - span.start);
    const kind = (span.flags >> KIND_SHIFT) & KIND_MASK;
    const requests = this.#requests.of(span.name, isNamed ? text : '', kind);
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
    if (trace !== 0 && this.#isLocalRoot(span, trace)) this.#endOfRoot(trace);
  }

  /** Whoever is called from now on keeps the trace if it is certain here. */
  override stateOf(span: Span): string {
    const { traceState } = span;
    if (this.isCertain(span)) return withKeep(traceState);
    const { t0, t1, t2, t3 } = span;
    const isShare = this.#rules.ratio > 0 && isInShare(this.#sampler, t0, t1, t2, t3, traceState);
    return isShare ? withThreshold(traceState, this.#sampler.recorded) : traceState;
  }

  /** Copies or lets go of what is not decided, and records what was counted. The thread or the trace ends. */
  override finish(): void {
    process.off('exit', this.#atExit);
    clearTimeout(this.#timer);
    try {
      this.traces.keepAll(UNDECIDED);
      this.#recordCounts(this.timeOf(undefined));
    } catch {
      // The trace is closed.
    }
  }

  /** Whether it is certain by now that the trace of an open span is kept, so that others are told. */
  isCertain({ t2, t3 }: Span): boolean {
    const trace = this.traces.find(t2, t3);
    if (trace === 0) return this.traces.wasKept(t2, t3);
    return (this.traces.flags[trace]! & KEPT) !== 0 || this.certain(trace) !== 0;
  }

  certain(trace: number): number {
    const { flags, reasons, starts } = this.traces;
    if ((flags[trace]! & KEPT) !== 0) return reasons[trace]!;
    if (this.#rules.errors === 'any' && (flags[trace]! & FAILED) !== 0) return ERROR;
    if (this.#surelySlow === Infinity) return 0;
    return this.timeOf(undefined) - starts[trace]! > this.#surelySlow ? SLOW : 0;
  }

  byRatio(trace: number): number {
    const [t0, t1, t2, t3] = this.traces.idOf(trace);
    return isInShare(this.#sampler, t0, t1, t2, t3, '') ? this.#ratio : 0;
  }

  #isLocalRoot(span: Span, trace: number): boolean {
    if ((span.p0 | span.p1) === 0 || (span.flags & PARENT_REMOTE) !== 0) return true;
    if (trace === 0) return false;
    const { firstIds, flags } = this.traces;
    return (
      (flags[trace]! & BEGINS_WITHIN) !== 0 &&
      firstIds[2 * trace] === span.s0 &&
      firstIds[2 * trace + 1] === span.s1
    );
  }

  /** The span that was recorded last waits with its trace, unless that is decided. */
  #wait(trace: number): void {
    const { traces } = this;
    traces.link(trace);
    if ((traces.flags[trace]! & KEPT) !== 0) this.#copy(trace);
  }

  #copy(trace: number): void {
    try {
      this.traces.copy(trace, this.traces.reasons[trace]!);
    } catch {
      // The trace is closed.
    }
  }

  #endRoot(span: Span, trace: number, endTime: Instant | undefined): void {
    const now = this.timeOf(undefined);
    const end = endTime === undefined ? now : this.#given(endTime, now);
    const duration = Math.max(0, end - span.start);
    const kind = (span.flags >> KIND_SHIFT) & KIND_MASK;
    const requests = this.#requests.of(span.name, '', kind);
    const failed = hasFailed(span);
    const reason = this.#reasonFor(span, trace, requests, duration, now);
    const isKept = trace !== 0 && (this.traces.flags[trace]! & KEPT) !== 0;
    if (reason === 0 && !isKept && (trace === 0 || this.traces.roots[trace] === 1)) {
      this.#releaseRoot(span, trace, requests, duration, now);
      return;
    }
    super.record(span, endTime);
    if (trace === 0) this.#copyLate(reason);
    else this.#afterRoot(trace, reason, requests, duration, failed);
  }

  #given(endTime: Instant, now: number): number {
    try {
      return Number(this.timeOf(endTime));
    } catch {
      // It is no time.
      return now;
    }
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
    if ((traces.flags[trace]! & KEPT) !== 0) this.#copy(trace);
    else if (reason !== 0) this.#keep(trace, reason);
    else {
      const others = this.#waitingRoots.get(trace) ?? [];
      others.push([requests, duration, failed]);
      this.#waitingRoots.set(trace, others);
    }
    this.#endOfRoot(trace);
  }

  #keep(trace: number, reason: number): void {
    try {
      this.traces.keep(trace, reason);
    } catch {
      // The trace is closed.
    }
  }

  #endOfRoot(trace: number): void {
    const { traces } = this;
    traces.roots[trace]!--;
    if (traces.roots[trace]! > 0) return;
    const others = this.#waitingRoots.size === 0 ? undefined : this.#waitingRoots.get(trace);
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
    requests.release(duration, hasFailed(span));
    this.#drop(span);
    if (trace !== 0) this.#endOfRoot(trace);
    if (now >= this.#nextCounts) this.#recordCounts(now);
    else if (this.#nextCounts === Infinity) this.#beginCounts(now);
  }

  /** A span that ends after its trace was decided. */
  #endLate(span: Span, endTime: Instant | undefined): void {
    if (!this.traces.wasKept(span.t2, span.t3)) {
      this.#drop(span);
      return;
    }
    super.record(span, endTime);
    this.#copyLate(SLOW);
  }

  #copyLate(reason: number): void {
    try {
      this.traces.copyLate(reason);
    } catch {
      // The trace is closed.
    }
  }

  /** Ends a span that is not recorded. */
  #drop(span: Span): void {
    if (span.slot !== -1) this.release(span);
    if (observer !== undefined) {
      observer.ended(span, Math.max(span.start, this.timeOf(undefined)));
    } else {
      letGo(span);
    }
  }

  /** Why the trace of a local root that ends is kept; 0: there is no reason. */
  #reasonFor(
    span: Span,
    trace: number,
    requests: RequestCounts,
    duration: number,
    now: number,
  ): number {
    const rules = this.#rules;
    const slowNs = requests.slowNs;
    requests.see(duration);
    if (rules.decide !== undefined) {
      const wish = this.#wish(span, duration);
      if (wish !== undefined) return wish ? CHOSEN : 0;
    }
    if (span.traceState !== '' && isKept(span.traceState)) return CALLER;
    const failed = hasFailed(span);
    const anyFailed = trace !== 0 && (this.traces.flags[trace]! & FAILED) !== 0;
    if (rules.errors !== 'none' && (failed || (anyFailed && rules.errors === 'any'))) {
      const type = failed ? this.#errorType(span) : 'within';
      return this.#within(span, `${requests.name} ${type}`, 'error', now);
    }
    if (duration > slowNs) return this.#within(span, `${requests.name} slow`, 'slow', now);
    if (requests.seen <= rules.first) return FIRST;
    const { t0, t1, t2, t3, traceState } = span;
    return rules.ratio > 0 && isInShare(this.#sampler, t0, t1, t2, t3, traceState)
      ? this.#ratio
      : 0;
  }

  #errorType(span: Span): string {
    const type = span.attributes?.['error.type'];
    return typeof type === 'string' ? type : '';
  }

  /** The reason, if the limit allows it. */
  #within({ t0, t1, t2, t3 }: Span, kind: string, reason: 'error' | 'slow', now: number): number {
    const share = this.#limit.shareOf(kind, now);
    const isKept = share === 1 || isInShare(shareSampler(share), t0, t1, t2, t3, '');
    this.#limit.note(isKept);
    if (!isKept) return 0;
    return share === 1 ? (reason === 'error' ? ERROR : SLOW) : codeOf(reason, share);
  }

  #wish(span: Span, duration: number): boolean | undefined {
    try {
      const wish: unknown = this.#rules.decide!({
        name: span.name,
        kind: KINDS[(span.flags >> KIND_SHIFT) & KIND_MASK] ?? 'internal',
        duration: duration / 1e6,
        failed: hasFailed(span),
        attributes: { ...span.attributes },
      });
      return typeof wish === 'boolean' ? wish : undefined;
    } catch {
      // A rule of the program breaks none of its requests.
      return undefined;
    }
  }

  #beginCounts(now: number): void {
    this.#countsSince = now;
    this.#nextCounts = now + COUNTS_INTERVAL;
    this.#timer = setTimeout(() => {
      if (this.#nextCounts < Infinity) this.#recordCounts(this.timeOf(undefined));
    }, COUNTS_MS);
    this.#timer.unref();
  }

  #recordCounts(now: number): void {
    clearTimeout(this.#timer);
    this.#nextCounts = Infinity;
    for (const counts of this.#requests.unrecorded()) {
      this.recordNote(
        RELEASED_DESCRIPTION,
        [
          [RELEASED_NAME, counts.name],
          ...(counts.route === '' ? [] : [[RELEASED_ROUTE, counts.route] as const]),
          [RELEASED_KIND, counts.kind],
          [RELEASED_RESOURCE, this.resource],
          [RELEASED_COUNT, counts.released.count],
          [RELEASED_ERRORS, counts.errors],
          [RELEASED_TIME, Math.round(counts.time)],
          [RELEASED_DURATIONS, counts.released.text],
        ],
        this.#countsSince,
        now,
      );
      counts.clear();
    }
  }
}
