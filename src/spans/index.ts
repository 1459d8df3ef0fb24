/**
 * Spans of a service: all that it did for a request, under one trace id that crosses process borders.
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
import type { ReadSpansOptions } from './read/read-spans.js';
import { spans } from './shared-spans.js';
import type { SpanRecord } from './span-record.js';

export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { OnFault } from '../core/fault.js';
export type { OpenSpanOptions } from '../heph/write/open-events.js';
export type { Target } from '../heph/target.js';
export type { SpanAttributes, SpanValue } from './attributes.js';
export type { Baggage } from './context/baggage.js';
export type { RemoteParent } from './context/remote-parent.js';
export type { SpanIds, TraceParent } from './context/trace-context.js';
export type { DecidedRoot, KeepOptions, SlowLimit } from './keep/keep-options.js';
export type { KeepReason, SpanKind, SpanStatus } from './layout.js';
export type { SpanLimits } from './limits.js';
export type { Carrier } from './propagation.js';
export type { ReadSpansOptions } from './read/read-spans.js';
export type { SpanOptions } from './recording.js';
export type { Redaction } from './redaction/redaction.js';
export type { Span, SpanLink } from './span.js';
export type {
  Kept,
  RecordedAttributes,
  RecordedEvent,
  RecordedLink,
  RecordedResource,
  RecordedScope,
  RecordedValue,
  SpanRecord,
} from './span-record.js';
export type { StartOptions } from './start-span.js';
export type { Instant } from './time.js';

type Spans = typeof spans;

/** Starts a span, which is not active. `end` records it. */
export const startSpan: Spans['startSpan'] = spans.startSpan;
/**
 * Calls a function with a new span, which is active meanwhile and ends with the function or with the promise
 * that it returns. Only promises of the language are waited for: other thenables are returned untouched.
 */
export const withSpan: Spans['withSpan'] = spans.withSpan;
/** The span that is active in the calling code. */
export const activeSpan: Spans['activeSpan'] = spans.activeSpan;
/** A function that is called with what is active now, for callbacks, emitters and pools. */
export const bind: Spans['bind'] = spans.bind;
/** Puts what is active into headers: `traceparent`, `tracestate` and `baggage`. */
export const inject: Spans['inject'] = spans.inject;
/** Reads headers, to be the `parent` of a span. What violates W3C's rules is ignored. */
export const extract: Spans['extract'] = spans.extract;
/** The baggage that is active. */
export const getBaggage: Spans['getBaggage'] = spans.getBaggage;
/** Calls a function with entries added to the active baggage. */
export const withBaggage: Spans['withBaggage'] = spans.withBaggage;
/** Says which route a request matched. */
export const setRoute: Spans['setRoute'] = spans.setRoute;
/** Sets what spans of this thread are recorded, how and where. */
export const configure: Spans['configure'] = spans.configure;
/** Resolves once the spans that this thread has ended are in the file or on their way. */
export const flush: Spans['flush'] = spans.flush;
/** Ends the recording of this thread's spans. */
export const shutdown: Spans['shutdown'] = spans.shutdown;

/**
 * Reads the spans of Heph traces, in memory that does not grow with them.
 *
 *     for await (const span of readSpans('traces')) console.log(span.name, span.end - span.start);
 *
 * @param paths a file, a directory with all traces below it, or several. Name the pieces of a trace that
 *   rotates one by one, or their directory.
 * @throws TraceFormatError when iterating, at what is not as the format or the contract says.
 */
export function readSpans(
  paths: string | readonly string[],
  options: ReadSpansOptions = {},
): AsyncIterableIterator<SpanRecord, undefined> {
  const { readSpansOf } = require('./read/read-spans.js') as typeof import('./read/read-spans.js');
  return readSpansOf(paths, options);
}
