import { KEEP_SHIFT, KINDS, PARENT_REMOTE } from '../layout.js';
import { keptUntil } from '../context/trace-state-entries.js';
import { BELOW } from '../span.js';
import type { Span } from '../span.js';
import type { TraceTime } from '../time.js';
import { CALLER, UNDECIDED } from './keep-decision.js';
import { beginAnew, LATE_MS } from './late-spans.js';
import { kindOf } from './span-flags.js';
import { BEGINS_WITHIN, BY_MESSAGE, KEPT } from './waiting-traces.js';
import type { WaitingTraces } from './waiting-traces.js';

const CONSUMER = KINDS.indexOf('consumer');

/** Of the scope of an open span: what a kill leaves says that nobody has decided. */
export const UNDECIDED_MARK = UNDECIDED << KEEP_SHIFT;

/**
 * Whether a caller's word holds that a trace is kept. The clocks of both hosts may differ by as much as that. A word
 * without a time holds when it comes.
 */
export function holdsUntil(until: number): boolean {
  const left = until - Date.now();
  return left > 0 && (left <= 2 * LATE_MS || until === Infinity);
}

/** The starts of a thread's spans whose traces wait. */
export class WaitingStarts {
  readonly #traces: WaitingTraces;

  constructor(traces: WaitingTraces) {
    this.#traces = traces;
  }

  /** Before a span of this thread starts, now if without a time: below a trace that was decided long ago it begins a new one. */
  before(span: Span, time: TraceTime | undefined): void {
    const { flags, t2, t3 } = span;
    const traces = this.#traces;
    if ((flags & BELOW) === 0 || traces.find(t2, t3) !== 0) return;
    if (traces.isOver(t2, t3, Number(time ?? traces.now()))) beginAnew(span);
  }

  /** A span has started, and has its start. */
  after(span: Span): void {
    if ((span.flags & BELOW) === 0) this.#started(span);
  }

  #started(span: Span): void {
    if ((span.p0 | span.p1) === 0) {
      // It is the first span of all.
      this.#traces.add(span.t0, span.t1, span.t2, span.t3, span.start);
      return;
    }
    const traces = this.#traces;
    const isRoot = (span.flags & PARENT_REMOTE) !== 0;
    let trace = traces.find(span.t2, span.t3);
    if (trace === 0) trace = this.#begun(span, isRoot);
    else if (isRoot) {
      traces.roots[trace]!++;
      // Not since the first one: that may end before this one is slow.
      traces.starts[trace] = Math.max(traces.starts[trace]!, span.start);
    }
    if (!isRoot || span.traceState === '' || (traces.flags[trace]! & KEPT) !== 0) return;
    const until = keptUntil(span.traceState);
    if (until === 0 || !holdsUntil(until)) return;
    traces.flags[trace]! |= kindOf(span.flags) === CONSUMER ? KEPT | BY_MESSAGE : KEPT;
    traces.reasons[trace] = CALLER;
  }

  /** The first span of a trace has started, or a late one. Returns the trace; 0: it has been decided. */
  #begun(span: Span, isRoot: boolean): number {
    const traces = this.#traces;
    const { t0, t1, t2, t3, start } = span;
    // Below a span of this process that is not recorded, it begins the trace; below one that was decided it does not.
    if (!isRoot && !traces.isOver(t2, t3, start)) return 0;
    const trace = traces.add(t0, t1, t2, t3, start);
    if (!isRoot) {
      traces.flags[trace]! |= BEGINS_WITHIN;
      traces.firstIds[2 * trace] = span.s0;
      traces.firstIds[2 * trace + 1] = span.s1;
    }
    return trace;
  }
}
