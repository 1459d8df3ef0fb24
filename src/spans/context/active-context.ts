import type { Span } from '../span.js';
import type { Carried } from './carried.js';
import { storedContext } from './context-storage.js';

/** An active context: a span, or another object with the same fields. */
export interface ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly carried: Carried | undefined;
}

/** Makes baggage active without a new span. */
export class CarriedScope implements ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly carried: Carried | undefined;

  constructor(activeSpan: Span | undefined, carried: Carried) {
    this.activeSpan = activeSpan;
    this.carried = carried;
  }
}

/** The context that is active in the calling code. */
export const activeContext = storedContext as () => ActiveContext | undefined;
