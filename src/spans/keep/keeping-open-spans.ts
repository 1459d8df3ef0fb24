import type { OpenRecords } from '../../core/ring/open-records.js';
import { KEEP_REASON_AFTER_NAME, KEEP_REASONS, KEEP_SHIFT, PARENT_REMOTE } from '../layout.js';
import type { SpanAttributes } from '../attributes.js';
import { isKept } from '../context/trace-state-entries.js';
import { OPEN } from '../span.js';
import type { Span } from '../span.js';
import { OpenSpans } from '../write/open-spans.js';
import type { SpanEncoder } from '../write/open-spans.js';
import type { SpanTemplate } from '../write/span-template.js';
import { BEGINS_WITHIN, KEPT } from './waiting-traces.js';
import type { WaitingTraces } from './waiting-traces.js';

const UNDECIDED = KEEP_REASONS.indexOf('undecided');
const CALLER = KEEP_REASONS.indexOf('caller');

/** The open spans of a thread whose traces wait. */
export class KeepingOpenSpans extends OpenSpans {
  traces: WaitingTraces | undefined;
  readonly #view: DataView;

  constructor(output: SpanEncoder, table: OpenRecords) {
    super(output, table);
    this.#view = table.view;
  }

  override begin(span: Span, given: SpanAttributes | undefined, before = -1): number {
    if (before === -1 && span.state === OPEN) {
      // What a kill leaves says that nobody has decided.
      span.scope |= UNDECIDED << KEEP_SHIFT;
      this.#started(span);
    }
    return super.begin(span, given, before);
  }

  override beginFrom(span: Span, template: SpanTemplate, text: string): number {
    if (span.state === OPEN) {
      span.scope |= UNDECIDED << KEEP_SHIFT;
      this.#started(span);
    }
    const at = super.beginFrom(span, template, text);
    if (at >= 0 && span.state === OPEN) {
      this.#view.setInt16(at + template.idsAt + KEEP_REASON_AFTER_NAME, UNDECIDED);
    }
    return at;
  }

  #started(span: Span): void {
    const traces = this.traces!;
    const { t2, t3 } = span;
    let trace = traces.find(t2, t3);
    const isRoot = (span.p0 | span.p1) === 0 || (span.flags & PARENT_REMOTE) !== 0;
    if (trace === 0) {
      // Below a span of this process that is not recorded, it begins the trace; below one that was decided it does not.
      const isLate = !isRoot && (traces.wasKept(t2, t3) || traces.wasReleased(t2, t3));
      if (isLate) return;
      trace = traces.add(span.t0, span.t1, t2, t3, span.s0, span.s1, span.start);
      if (!isRoot) traces.flags[trace]! |= BEGINS_WITHIN;
      else if (traces.wasKept(t2, t3) || (span.traceState !== '' && isKept(span.traceState))) {
        traces.flags[trace]! |= KEPT;
        traces.reasons[trace] = CALLER;
      }
    } else if (!isRoot) {
      return;
    }
    traces.roots[trace]!++;
  }
}
