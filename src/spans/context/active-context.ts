import type { Span } from '../span.js';
import type { Baggage } from './baggage.js';
import { storedContext } from './context-storage.js';

/** What is active: a span, which is its own context, or another holder of the same. */
export interface ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly baggage: Baggage | undefined;
}

/** Baggage that is active without a new span. */
export class BaggageScope implements ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly baggage: Baggage | undefined;

  constructor(activeSpan: Span | undefined, baggage: Baggage) {
    this.activeSpan = activeSpan;
    this.baggage = baggage;
  }
}

/** What is active in the calling code. */
export function activeContext(): ActiveContext | undefined {
  return storedContext() as ActiveContext | undefined;
}
