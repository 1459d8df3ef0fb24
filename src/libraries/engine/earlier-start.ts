import type { Span } from '../../spans/span.js';

/** Of a span that is made after its operation has begun. The clock may be coarse: it has not begun before its parent. */
export function beginEarlier(span: Span, tookNs: number, parent: Span | undefined): void {
  const start = span.start - tookNs;
  const isOfSameTrace = parent?.recording === true && parent.output === span.output;
  span.moveStart(isOfSameTrace ? Math.max(start, parent.start) : start);
}
