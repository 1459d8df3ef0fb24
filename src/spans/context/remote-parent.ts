import type { Baggage } from './baggage.js';
import { CarriedBaggage } from './carried.js';
import type { Carried, Senders } from './carried.js';
import { hexWord } from './ids.js';
import type { SpanIds, TraceParent } from './trace-context.js';

/**
 * A caller's span, as parent of one here, and the baggage that it has sent. It is what spans below it carry, so that no
 * other object is needed.
 */
export class RemoteParent implements Carried, Senders {
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

  /** @internal The same of what begins a trace: its baggage. */
  withoutParent(): RemoteParent {
    return new RemoteParent(undefined, '', this.baggage);
  }

  /** @internal */
  include({ trace, span }: TraceParent): boolean {
    const own = this.parent;
    return (
      own !== undefined &&
      own.span.every((word, i) => word === span[i]) &&
      own.trace.every((word, i) => word === trace[i])
    );
  }

  /** @internal */
  get senders(): Senders | undefined {
    return this.parent === undefined ? undefined : this;
  }

  /** @internal */
  get suppressesTracing(): boolean {
    return false;
  }

  /** @internal */
  withBaggage(baggage: Baggage): Carried {
    return new CarriedBaggage(baggage, this.senders);
  }

  /** @internal */
  withSenders(senders: Senders): Carried {
    return new CarriedBaggage(this.baggage, senders);
  }
}
