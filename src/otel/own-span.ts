import { spans } from '../spans/shared-spans.js';
import type { Span } from '../spans/span.js';

const { Span: SpanClass } = spans;

/** Whether a value is a span of this package. A proxy that was revoked is none, and does not throw here. */
export function isOwnSpan(value: unknown): value is Span {
  try {
    return value instanceof SpanClass;
  } catch {
    return false;
  }
}
