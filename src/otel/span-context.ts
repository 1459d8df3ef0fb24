import type { SpanContext } from '@opentelemetry/api';
import type { Carried } from '../spans/context/carried.js';
import { hexWord } from '../spans/context/ids.js';
import { TRACE_FLAGS_MASK } from '../spans/layout.js';
import { spans } from '../spans/shared-spans.js';
import { REMOTE, SHOWN } from '../spans/span.js';
import type { Span } from '../spans/span.js';
import { TraceStateText, traceStateText } from './trace-state.js';

const { Span: SpanClass } = spans;

/** Whether a value is a span of this package. A proxy that was revoked is none, and does not throw here. */
export function isOwnSpan(value: unknown): value is Span {
  try {
    return value instanceof SpanClass;
  } catch {
    return false;
  }
}

const TRACE_ID = /^[\da-f]{32}$/i;
const SPAN_ID = /^[\da-f]{16}$/i;

/** 32 hexadecimal digits. */
export function traceIdOf(span: Span): string {
  return hexWord(span.t0) + hexWord(span.t1) + hexWord(span.t2) + hexWord(span.t3);
}

/** 16 hexadecimal digits. */
function spanIdOf(span: Span): string {
  return hexWord(span.s0) + hexWord(span.s1);
}

/** The ids of a span as the API shows them. */
export function spanContextOf(span: Span): SpanContext {
  span.flags |= SHOWN;
  const context: SpanContext = {
    traceId: traceIdOf(span),
    spanId: spanIdOf(span),
    traceFlags: span.flags & TRACE_FLAGS_MASK,
  };
  if (span.traceState !== '') context.traceState = new TraceStateText(span.traceState);
  if (span.state === REMOTE) context.isRemote = true;
  return context;
}

const word = (text: string, at: number): number => Number.parseInt(text.slice(at, at + 8), 16) | 0;

/** A span with these ids, which is not recorded here; undefined if they are not valid. */
export function standInOf(context: unknown, carried: Carried | undefined): Span | undefined {
  if (typeof context !== 'object' || context === null) return undefined;
  const { traceId, spanId, traceFlags, traceState, isRemote } = context as Partial<SpanContext>;
  if (typeof traceId !== 'string' || typeof spanId !== 'string') return undefined;
  if (!TRACE_ID.test(traceId) || !SPAN_ID.test(spanId)) return undefined;
  const trace = [word(traceId, 0), word(traceId, 8), word(traceId, 16), word(traceId, 24)] as const;
  const id = [word(spanId, 0), word(spanId, 8)] as const;
  if ((trace[0] | trace[1] | trace[2] | trace[3]) === 0 || (id[0] | id[1]) === 0) return undefined;
  const flags = typeof traceFlags === 'number' ? traceFlags : 0;
  return spans.standIn(trace, id, flags, isRemote === true, traceStateText(traceState), carried);
}

/** A span with the ids of another library's span; undefined if it has no valid ids. */
export function standInOfForeign(foreign: unknown, carried: Carried | undefined): Span | undefined {
  try {
    return standInOf((foreign as { spanContext(): unknown }).spanContext(), carried);
  } catch {
    return undefined;
  }
}
