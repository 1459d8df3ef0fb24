import type { Span } from '../span.js';
import type { Carried } from './carried.js';
import { storedContext } from './context-storage.js';

/** What is active: a span, which is its own context, or another holder of the same. */
export interface ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly carried: Carried | undefined;
}

/** What is carried without a new span. */
export class CarriedScope implements ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly carried: Carried | undefined;

  constructor(activeSpan: Span | undefined, carried: Carried) {
    this.activeSpan = activeSpan;
    this.carried = carried;
  }
}

/** What is active in the calling code. */
export const activeContext = storedContext as () => ActiveContext | undefined;
