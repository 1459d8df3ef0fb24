import { randomWords } from '../context/ids.js';
import { PARENT_REMOTE, TRACE_FLAGS_MASK } from '../layout.js';
import { BELOW } from '../span.js';
import type { Span } from '../span.js';
import { standIn } from '../unrecorded-span.js';

/** A span that begins so many ms after its trace was decided is no part of it. */
export const LATE_MS = 5000;
export const LATE_NS = LATE_MS * 1e6;

/** Has a span that starts begin a trace of its own, with a link to the span below which it would be. */
export function beginAnew(span: Span): void {
  const { t0, t1, t2, t3, p0, p1, flags } = span;
  const traceFlags = flags & TRACE_FLAGS_MASK;
  const to = standIn([t0, t1, t2, t3], [p0, p1], traceFlags, false, span.traceState, undefined);
  const extras = span.extra();
  extras.links = [...(extras.links ?? []), { to }];
  const [n0, n1, n2, n3] = randomWords(4) as unknown as [number, number, number, number];
  span.setTrace(n0, n1, n2, n3);
  span.flags &= ~(BELOW | PARENT_REMOTE);
}
