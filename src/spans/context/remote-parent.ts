import type { Baggage } from './baggage.js';
import { hexWord } from './ids.js';
import type { SpanIds, TraceParent } from './trace-context.js';

/** What a caller has sent: its span, as parent of one here, and its baggage. */
export class RemoteParent {
  /** The headers, checked. Undefined when only baggage came. */
  readonly parent: TraceParent | undefined;
  readonly traceState: string;
  readonly baggage: Baggage | undefined;
  /** Whether the caller decides if the trace is recorded. */
  trusted = true;

  /** @internal Use `extract`. */
  constructor(parent: TraceParent | undefined, traceState: string, baggage: Baggage | undefined) {
    this.parent = parent;
    this.traceState = traceState;
    this.baggage = baggage;
  }

  /** The ids of the caller's span; undefined when only baggage came. */
  get ids(): SpanIds | undefined {
    if (this.parent === undefined) return undefined;
    const { trace, span, flags } = this.parent;
    return {
      trace_id: trace.map(hexWord).join(''),
      span_id: span.map(hexWord).join(''),
      trace_flags: flags.toString(16).padStart(2, '0'),
    };
  }
}
