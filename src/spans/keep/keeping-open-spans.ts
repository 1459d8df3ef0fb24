import { KEEP_REASONS, KEEP_SHIFT, PARENT_REMOTE } from '../layout.js';
import type { SpanAttributes } from '../attributes.js';
import { isKept } from '../context/trace-state-entries.js';
import { BELOW, OPEN } from '../span.js';
import type { Span } from '../span.js';
import { OpenSpans } from '../write/open-spans.js';
import type { SpanTemplate } from '../write/span-template.js';
import { BEGINS_WITHIN, KEPT } from './undecided-traces.js';
import type { UndecidedTraces } from './undecided-traces.js';

const UNDECIDED = KEEP_REASONS.indexOf('undecided');
const CALLER = KEEP_REASONS.indexOf('caller');

/** The open spans of a thread whose traces wait. */
export class KeepingOpenSpans extends OpenSpans {
  traces: UndecidedTraces | undefined;

  override begin(span: Span, given: SpanAttributes | undefined, before = -1): number {
    if (before === -1 && span.state === OPEN) {
      // What a kill leaves says that nobody has decided.
      span.scope |= UNDECIDED << KEEP_SHIFT;
      // Its parent has begun the trace, or was late.
      if ((span.flags & BELOW) === 0) this.#started(span);
    }
    return super.begin(span, given, before);
  }

  override beginFrom(span: Span, template: SpanTemplate, text: string): number {
    if (span.state === OPEN) {
      span.scope |= UNDECIDED << KEEP_SHIFT;
      if ((span.flags & BELOW) === 0) this.#started(span);
    }
    return super.beginFrom(span, template, text);
  }

  #started(span: Span): void {
    if ((span.p0 | span.p1) === 0) {
      // It is the first span of all.
      this.traces!.add(span.t0, span.t1, span.t2, span.t3, span.start);
      return;
    }
    const trace = this.traces!.find(span.t2, span.t3);
    const isRoot = (span.flags & PARENT_REMOTE) !== 0;
    if (trace === 0) this.#begun(span, isRoot);
    else if (isRoot) this.traces!.roots[trace]!++;
  }

  /** The first span of a trace has started, or a late one. */
  #begun(span: Span, isRoot: boolean): void {
    const traces = this.traces!;
    const { t2, t3 } = span;
    // Below a span of this process that is not recorded, it begins the trace; below one that was decided it does not.
    if (!isRoot && (traces.wasKept(t2, t3) || traces.wasReleased(t2, t3))) return;
    const trace = traces.add(span.t0, span.t1, t2, t3, span.start);
    if (!isRoot) {
      traces.flags[trace]! |= BEGINS_WITHIN;
      traces.firstIds[2 * trace] = span.s0;
      traces.firstIds[2 * trace + 1] = span.s1;
      return;
    }
    if (traces.wasKept(t2, t3) || (span.traceState !== '' && isKept(span.traceState))) {
      traces.flags[trace]! |= KEPT;
      traces.reasons[trace] = CALLER;
    }
  }
}
