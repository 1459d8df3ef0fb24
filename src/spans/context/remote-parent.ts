import type { Baggage } from './baggage.js';
import { hexWord } from './ids.js';
import type { TraceParent } from './trace-context.js';

/** The ids of a span in the notation of W3C Trace Context. */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly trace_id: string;
  /** 16 hexadecimal digits. */
  readonly span_id: string;
  /** Two hexadecimal digits; the lowest bit says that the trace is recorded. */
  readonly trace_flags: string;
}

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
