/**
 * Spans of a service: what it did, told whole, under one trace id that crosses process borders.
 *
 *     import { withSpan } from 'tracewright/spans';
 *
 *     const order = await withSpan('load order', { id }, async (span) => {
 *       const found = await load(id);
 *       span.set('items', found.items.length);
 *       return found;
 *     });
 *
 * @module spans
 */
export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { Target } from '../heph/target.js';
export type { Baggage } from './context/baggage.js';
export type { RemoteParent, SpanIds } from './context/remote-parent.js';
export type { SpanKind, SpanStatus } from './layout.js';
export type { SpanLimits } from './limits.js';
export { extract, getBaggage, inject, withBaggage } from './propagation.js';
export type { Carrier } from './propagation.js';
export type { Redaction } from './redaction.js';
export { readSpans } from './reading.js';
export type { ReadSpansOptions } from './read/read-spans.js';
export { configure, flush, shutdown } from './recording.js';
export type { SpanOptions } from './recording.js';
export type { Span, SpanAttributes, SpanLink, SpanValue } from './span.js';
export type {
  RecordedAttributes,
  RecordedEvent,
  RecordedLink,
  RecordedResource,
  RecordedScope,
  RecordedValue,
  SpanRecord,
} from './span-record.js';
export { activeSpan, bind, startSpan, withSpan } from './spans.js';
export type { StartOptions } from './spans.js';
export type { Instant } from './time.js';
