import type {
  RecordedEvent,
  RecordedResource,
  RecordedScope,
  RecordedValue,
  SpanRecord,
} from '../../spans/span-record.js';

const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Of an unfinished span, true: the process ended before it, and its end is the last sign of life. */
const UNFINISHED = 'tracewright.unfinished';
/** Of a span that ends before its start: by how many nanoseconds. Its end is its start then. */
const ENDS_BEFORE_START = 'tracewright.ends_before_start';

/** Of a span or an event before 1970: its times in nanoseconds since then. OTLP's own are 0. */
const START_TIME = 'tracewright.start_time_unix_nano';
const END_TIME = 'tracewright.end_time_unix_nano';
const EVENT_TIME = 'tracewright.time_unix_nano';

type FurtherAttributes = readonly (readonly [name: string, value: RecordedValue])[];
const NONE: FurtherAttributes = [];

/** Attributes for what OTLP's fields of a span cannot say. */
export function furtherAttributes({ start, end, unfinished }: SpanRecord): FurtherAttributes {
  if (!unfinished && end >= start && start >= 0n) return NONE;
  const further: [name: string, value: RecordedValue][] = [];
  if (unfinished) further.push([UNFINISHED, true]);
  if (end < start) further.push([ENDS_BEFORE_START, start - end]);
  if (start < 0n) further.push([START_TIME, start]);
  if (end < 0n) further.push([END_TIME, end]);
  return further;
}

/** The same of an event. */
export function furtherOfEvent({ time }: RecordedEvent): FurtherAttributes {
  return time < 0n ? [[EVENT_TIME, time]] : NONE;
}

/** Bits of a span's or a link's flags, over those of W3C. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** OTLP's flags of a span or a link. */
export function otlpFlags(flags: number, isRemote: boolean): number {
  return flags | HAS_IS_REMOTE | (isRemote ? IS_REMOTE : 0);
}

/** Spans of one scope. */
interface ScopeBatch {
  scope: RecordedScope | undefined;
  spans: SpanRecord[];
}

/** Spans of one resource. */
export interface ResourceBatch {
  resource: RecordedResource | undefined;
  scopes: ScopeBatch[];
}

/** Puts spans together in one request, in which a resource and a scope occur once. */
export function groupSpans(spans: readonly SpanRecord[]): ResourceBatch[] {
  const batch: ResourceBatch[] = [];
  let last: ScopeBatch | undefined;
  let lastResource: RecordedResource | undefined;
  for (const span of spans) {
    if (last === undefined || lastResource !== span.resource || last.scope !== span.scope) {
      lastResource = span.resource;
      last = scopeOf(batch, span);
    }
    last.spans.push(span);
  }
  return batch;
}

/** Scopes of what a thread itself did, which is of one trace for the life of the thread. */
const OF_THREADS: ReadonlySet<string> = new Set(['tracewright/event-loop', 'tracewright/gc']);

/** The trace of a span. Stalls and collections get one each: no backend wants a trace of months. */
export function otlpTraceId({ traceId, spanId, parentSpanId, scope }: SpanRecord): string {
  const isOfThread = parentSpanId === undefined && OF_THREADS.has(scope?.name ?? '');
  return isOfThread ? traceId.slice(0, 16) + spanId : traceId;
}

/** Whether OTLP allows the ids of a span. */
export function hasValidIds({ traceId, spanId }: SpanRecord): boolean {
  return traceId !== NO_TRACE && spanId !== NO_SPAN;
}

/** Where a span of the batch goes. A recording has few resources and scopes. */
function scopeOf(batch: ResourceBatch[], { resource, scope }: SpanRecord): ScopeBatch {
  let ofResource = batch.find((each) => each.resource === resource);
  if (ofResource === undefined) batch.push((ofResource = { resource, scopes: [] }));
  let ofScope = ofResource.scopes.find((each) => each.scope === scope);
  if (ofScope === undefined) ofResource.scopes.push((ofScope = { scope, spans: [] }));
  return ofScope;
}
