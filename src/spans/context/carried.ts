import type { Baggage } from './baggage.js';
import type { TraceParent } from './trace-context.js';

/** The spans of other processes that have sent what a part of this one works on. */
export interface Senders {
  /** Whether a header names one of them. */
  include(parent: TraceParent): boolean;
}

/** Who has asked for what is done for several callers at once. */
interface Links {
  /** Links of spans. Spans import this file. */
  readonly all: readonly object[];
  readonly below: Carried | undefined;
}

/** Values that are active together with a span. Spans that start meanwhile pass it on to those below them. */
export interface Carried {
  /** Names and values that travel with requests. */
  readonly baggage: Baggage | undefined;
  /** Whether nothing is recorded: what sends spans to a backend is no part of the program's work. */
  readonly suppressesTracing: boolean;
  /** Undefined: this process has begun it. */
  readonly senders: Senders | undefined;
  /** Links of a span that begins now, and what is carried on below it. */
  readonly links?: Links | undefined;
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
  readonly links = undefined;
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

/** Of what is done for several callers at once: a span that begins in it has a link to each. */
export class CarriedLinks implements Carried {
  readonly suppressesTracing = false;
  readonly links: Links;

  constructor(all: readonly object[], below: Carried | undefined) {
    this.links = { all, below };
  }

  get baggage(): Baggage | undefined {
    return this.links.below?.baggage;
  }

  get senders(): Senders | undefined {
    return this.links.below?.senders;
  }

  withBaggage(baggage: Baggage): Carried {
    const { all, below } = this.links;
    return new CarriedLinks(all, below?.withBaggage(baggage) ?? new CarriedBaggage(baggage));
  }

  withSenders(senders: Senders): Carried {
    const { all, below } = this.links;
    const sent = below?.withSenders(senders) ?? new CarriedBaggage(undefined, senders);
    return new CarriedLinks(all, sent);
  }
}
