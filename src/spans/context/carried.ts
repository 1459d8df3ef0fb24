import type { Baggage } from './baggage.js';

/** What is active together with a span. Spans that start meanwhile pass it on to those below them. */
export interface Carried {
  /** What travels with requests. */
  readonly baggage: Baggage | undefined;
  /** Whether nothing is recorded: what sends spans to a backend is no part of the program's work. */
  readonly suppressesTracing: boolean;
  /** The same with other baggage. */
  withBaggage(baggage: Baggage): Carried;
}

/** Baggage and nothing else. */
export class CarriedBaggage implements Carried {
  readonly baggage: Baggage;
  readonly suppressesTracing = false;
  /** The baggage as OpenTelemetry shows it, once it was asked for. */
  shown: object | undefined = undefined;

  constructor(baggage: Baggage) {
    this.baggage = baggage;
  }

  withBaggage(baggage: Baggage): Carried {
    return new CarriedBaggage(baggage);
  }
}
