import { callBeforeEnd } from './before-end.js';
import type { ActiveContext } from './context/active-context.js';
import type { Scope } from './scope.js';
import type { Span } from './span.js';
import type { Instant } from './time.js';

/** Gets the recorded spans of a thread. It never throws. */
export interface SpanObserver {
  /** A span has started; what is set now is in its record. */
  started(span: Span, context: ActiveContext | undefined, scope: Scope | undefined): void;
  /**
   * A span is about to end; what is set now is in its record.
   *
   * @returns false: it is ending already.
   */
  ending(span: Span, endTime: Instant | undefined): boolean;
  /**
   * A span has ended and was recorded.
   *
   * @param end nanoseconds since the trace's epoch.
   */
  ended(span: Span, end: number): void;
}

/** None in most programs: then it costs one comparison a span. */
export let observer: SpanObserver | undefined;

export function areObserved(): boolean {
  return observer !== undefined;
}

/** Has spans that start and end from now on seen. */
export function observeSpans(by: SpanObserver): void {
  observer = by;
  callBeforeEnd((span, endTime) => by.ending(span as Span, endTime));
}
