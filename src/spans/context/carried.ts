import type { Baggage } from './baggage.js';
import type { TraceParent } from './trace-context.js';

/** The spans of other processes that have sent what a part of this one works on. */
export interface Senders {
  /** Whether a header names one of them. */
  include(parent: TraceParent): boolean;
}

/** What is active together with a span. Spans that start meanwhile pass it on to those below them. */
export interface Carried {
  /** What travels with requests. */
  readonly baggage: Baggage | undefined;
  /** Whether nothing is recorded: what sends spans to a backend is no part of the program's work. */
  readonly suppressesTracing: boolean;
  /** Undefined: this process has begun it. */
  readonly senders: Senders | undefined;
  /** The same with other baggage. */
  withBaggage(baggage: Baggage): Carried;
  /** The same below what others have sent. */
  withSenders(senders: Senders): Carried;
}

/** Baggage, and who has sent it. */
export class CarriedBaggage implements Carried {
  readonly baggage: Baggage | undefined;
  readonly suppressesTracing = false;
  readonly senders: Senders | undefined;
  /** The baggage as OpenTelemetry shows it, once it was asked for. */
  shown: object | undefined = undefined;

  constructor(baggage: Baggage | undefined, senders?: Senders) {
    this.baggage = baggage;
    this.senders = senders;
  }

  withBaggage(baggage: Baggage): Carried {
    return new CarriedBaggage(baggage, this.senders);
  }

  withSenders(senders: Senders): Carried {
    return new CarriedBaggage(this.baggage, senders);
  }
}
