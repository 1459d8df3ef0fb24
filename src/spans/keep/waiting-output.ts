import type { WaitingRing } from '../../core/ring/waiting-ring.js';
import { Stream } from '../../heph/write/stream.js';
import type { StreamTrace } from '../../heph/write/stream.js';
import { PARENT_REMOTE } from '../layout.js';
import { observer } from '../observer.js';
import type { Policy } from '../policy.js';
import type { Resource } from '../resource.js';
import type { SpanAttributes } from '../attributes.js';
import type { Prefix } from '../slot/prefix.js';
import { OPEN } from '../span.js';
import type { Span } from '../span.js';
import type { Instant, TraceTime } from '../time.js';
import { letGo, SpanOutput } from '../write/span-output.js';
import { UNDECIDED_MARK, WaitingStarts } from './waiting-starts.js';
import { OperationCounts } from './operation-counts.js';
import { hasFailed } from './span-flags.js';
import { BEGINS_WITHIN, FAILED, KEPT, RELEASED, WaitingTraces } from './waiting-traces.js';

/** The trace for encoders that write into a ring where its events wait. */
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

/** Spans of a thread that wait in a ring of their own, until they are copied to the file's ring or let go. */
export class WaitingOutput extends SpanOutput {
  declare readonly traces: WaitingTraces;
  protected readonly operations: OperationCounts;
  readonly #starts: WaitingStarts;

  constructor(direct: Stream, ring: WaitingRing, policy: Policy, resource: Resource) {
    super(new Stream(waitingTrace(direct.trace, ring), direct.id), policy, resource, direct);
    const traces = new WaitingTraces(ring);
    Object.defineProperty(this, 'traces', { value: traces });
    this.#starts = new WaitingStarts(traces);
    const operations = new OperationCounts(this, traces);
    this.operations = operations;
  }

  override get openMark(): number {
    return UNDECIDED_MARK;
  }

  override start(
    span: Span,
    prefix: Prefix,
    given: SpanAttributes | undefined,
    text: string,
    time: TraceTime | undefined,
  ): void {
    if (span.state !== OPEN) {
      super.start(span, prefix, given, text, time);
      return;
    }
    this.#starts.before(span, time);
    super.start(span, prefix, given, text, time);
    this.#starts.after(span);
  }

  protected isLocalRoot(span: Span, trace: number): boolean {
    if ((span.p0 | span.p1) === 0 || (span.flags & PARENT_REMOTE) !== 0) return true;
    if (trace === 0) return false;
    const { firstIds, flags } = this.traces;
    return (
      (flags[trace]! & BEGINS_WITHIN) !== 0 &&
      firstIds[2 * trace] === span.s0 &&
      firstIds[2 * trace + 1] === span.s1
    );
  }

  /** A span that is no local root ends. */
  protected recordBelow(span: Span, trace: number, endTime: Instant | undefined): void {
    const { traces } = this;
    if (trace === 0) {
      this.#endLate(span, endTime);
      return;
    }
    if ((traces.flags[trace]! & RELEASED) !== 0) {
      this.#dropBelow(span, endTime);
      return;
    }
    if (hasFailed(span.flags)) traces.flags[trace]! |= FAILED;
    const { number } = this.operations.of(span.name, span);
    if (span.isWhole) traces.learn(span, number, false);
    super.record(span, endTime);
    traces.link(trace, number);
    if ((traces.flags[trace]! & KEPT) !== 0) this.copy(trace);
  }

  /** A span that ends after its trace was decided. */
  #endLate(span: Span, endTime: Instant | undefined): void {
    const reason = this.traces.pastReasonOf(span.t2, span.t3);
    if (reason === 0) {
      this.#dropBelow(span, endTime);
      return;
    }
    super.record(span, endTime);
    this.copyLate(reason);
  }

  /** A span of a trace that is released ends. */
  #dropBelow(span: Span, endTime: Instant | undefined): void {
    const now = this.timeOf(undefined);
    const duration = Math.max(0, this.endOf(endTime, now) - span.start);
    this.operations.of(span.name, span).release(duration, hasFailed(span.flags));
    this.drop(span);
  }

  protected copy(trace: number): void {
    try {
      this.traces.copy(trace, this.traces.reasons[trace]!);
    } catch {
      // The trace is closed.
    }
  }

  protected keep(trace: number, reason: number): void {
    try {
      this.traces.keep(trace, reason);
    } catch {
      // The trace is closed.
    }
  }

  protected copyLate(reason: number): void {
    try {
      this.traces.copyLate(reason);
    } catch {
      // The trace is closed.
    }
  }

  /** Ends a span that is not recorded. */
  protected drop(span: Span): void {
    if (span.slot !== -1) this.release(span);
    if (observer !== undefined) {
      observer.ended(span, Math.max(span.start, this.timeOf(undefined)));
    } else {
      letGo(span);
    }
  }

  /** When a span ends: `now`, unless another time is given. */
  protected endOf(endTime: Instant | undefined, now: number): number {
    if (endTime === undefined) return now;
    try {
      return Number(this.timeOf(endTime));
    } catch {
      // It is no time.
      return now;
    }
  }
}
