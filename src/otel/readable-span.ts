import type { TraceTime } from '../spans/time.js';
import type { Attributes, HrTime, Link, SpanContext } from '@opentelemetry/api';
import { hexWord } from '../spans/context/ids.js';
import {
  KIND_MASK,
  KIND_SHIFT,
  NESTED_SERVER,
  SERVER,
  PARENT_REMOTE,
  STATUS_MASK,
  STATUS_SHIFT,
  TRACE_FLAGS_MASK,
} from '../spans/layout.js';
import type { Scope } from '../spans/scope.js';
import { spans } from '../spans/shared-spans.js';
import { ENDED } from '../spans/span.js';
import type { Span } from '../spans/span.js';
import { spanContextOf, traceIdOf } from './span-context.js';
import { TraceStateText } from './trace-state.js';
import type { SpanAttributes } from '../spans/attributes.js';
import type { Resource } from '../spans/resource.js';

/** A resource in the form that exporters of OpenTelemetry's SDK read: those of its versions 1 and 2. */
class ReadableResource {
  readonly attributes: SpanAttributes;
  readonly schemaUrl: string | undefined;
  readonly asyncAttributesPending = false;

  constructor(attributes: SpanAttributes, schemaUrl: string | undefined) {
    this.attributes = attributes;
    this.schemaUrl = schemaUrl;
  }

  waitForAsyncAttributes(): Promise<void> {
    return Promise.resolve();
  }

  getRawAttributes(): [string, unknown][] {
    return Object.entries(this.attributes);
  }

  /** Attributes of the other one go first. */
  merge(other: { attributes?: SpanAttributes; schemaUrl?: string } | null): ReadableResource {
    if (other === null) return this;
    const attributes = { ...this.attributes, ...other.attributes };
    return new ReadableResource(attributes, other.schemaUrl ?? this.schemaUrl);
  }
}

const made = new WeakMap<Resource, ReadableResource>();

/** One object for each resource: exporters group spans by it. */
function readableResource(resource: Resource): ReadableResource {
  let readable = made.get(resource);
  if (readable === undefined) {
    const { attributes, schemaUrl } = resource;
    readable = new ReadableResource(attributes, schemaUrl === '' ? undefined : schemaUrl);
    made.set(resource, readable);
  }
  return readable;
}

const PER_SECOND = 1_000_000_000n;

/** The library that recorded a span, as exporters read it. */
export interface ReadableScope {
  readonly name: string;
  readonly version?: string;
  readonly schemaUrl?: string;
}

/** An event of a span, as exporters read it. */
export interface ReadableEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes: Attributes;
  readonly droppedAttributesCount?: number;
}

/**
 * A span as span processors see it: the fields of `ReadableSpan` of OpenTelemetry's SDK, version 2, and those
 * that version 1 had.
 */
export interface ReadableSpan {
  readonly name: string;
  /** `SpanKind` of the API. */
  readonly kind: number;
  readonly parentSpanContext?: SpanContext;
  /** Of version 1. */
  readonly parentSpanId?: string;
  readonly startTime: HrTime;
  /** `[0, 0]` until the span has ended. */
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly ended: boolean;
  /** `SpanStatusCode` of the API, and a message for errors. */
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly events: ReadableEvent[];
  readonly resource: { readonly attributes: object };
  readonly instrumentationScope: ReadableScope;
  /** Of version 1. */
  readonly instrumentationLibrary?: ReadableScope;
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
  spanContext(): SpanContext;
}

/** Fields that a span keeps for its processors, in addition to its own. */
interface Observed {
  readonly scope: Scope | undefined;
  /** Nanoseconds since 1970 at the trace's epoch. */
  readonly epoch: bigint;
  /** Nanoseconds since the trace's epoch; NaN: the span is open. */
  end: number;
}

/** A span that processors see. */
export type ObservedSpan = Span & { observed: Observed };

const OWN_SCOPE: ReadableScope = { name: 'tracewright/spans' };

function hrTime(ns: bigint): HrTime {
  return [Number(ns / PER_SECOND), Number(ns % PER_SECOND)];
}

function instant({ epoch }: Observed, ns: TraceTime): HrTime {
  return hrTime(epoch + (typeof ns === 'bigint' ? ns : BigInt(Math.round(ns))));
}

function parentOf(span: Span): SpanContext | undefined {
  if ((span.p0 | span.p1) === 0) return undefined;
  const parent: SpanContext = {
    traceId: traceIdOf(span),
    spanId: hexWord(span.p0) + hexWord(span.p1),
    traceFlags: span.flags & TRACE_FLAGS_MASK,
  };
  if ((span.flags & PARENT_REMOTE) !== 0) parent.isRemote = true;
  if (span.traceState !== '') parent.traceState = new TraceStateText(span.traceState);
  return parent;
}

function scopeOf(scope: Scope | undefined): ReadableScope {
  if (scope === undefined) return OWN_SCOPE;
  const { name, version, schemaUrl } = scope;
  return {
    name,
    ...(version === '' ? {} : { version }),
    ...(schemaUrl === '' ? {} : { schemaUrl }),
  };
}

function linksOf(span: Span): Link[] {
  return (span.extras?.links ?? []).map(({ to, attributes }) => ({
    context:
      to instanceof spans.Span
        ? spanContextOf(to)
        : {
            traceId: to.ids?.trace_id ?? '',
            spanId: to.ids?.span_id ?? '',
            traceFlags: to.parent?.flags ?? 0,
            isRemote: true,
          },
    ...(attributes === undefined ? {} : { attributes: attributes as Attributes }),
  }));
}

/** The fields of a readable span that a span does not have by itself. */
type Fields = {
  [Name in keyof ReadableSpan]?: (span: ObservedSpan) => ReadableSpan[Name] | undefined;
};

const fields: Fields = {
  kind: ({ flags }) => {
    const kind = (flags >> KIND_SHIFT) & KIND_MASK;
    return kind === NESTED_SERVER ? SERVER : kind;
  },
  parentSpanContext: parentOf,
  parentSpanId: (span) => parentOf(span)?.spanId,
  startTime: ({ observed, exactStart }) => instant(observed, exactStart),
  endTime: ({ observed }) =>
    Number.isNaN(observed.end) ? [0, 0] : instant(observed, observed.end),
  duration: ({ observed, start }) =>
    Number.isNaN(observed.end) ? [-1, -1] : hrTime(BigInt(Math.round(observed.end - start))),
  ended: ({ state }) => state === ENDED,
  status: ({ flags, extras }) => {
    const code = (flags >> STATUS_SHIFT) & STATUS_MASK;
    const message = extras?.message ?? '';
    return message === '' ? { code } : { code, message };
  },
  links: linksOf,
  events: ({ extras, observed }) =>
    (extras?.events ?? []).map(({ name, time, attributes = {} }) => ({
      name,
      time: instant(observed, time),
      attributes: attributes as Attributes,
      droppedAttributesCount: 0,
    })),
  resource: ({ output }) =>
    output === undefined
      ? new ReadableResource({}, undefined)
      : readableResource(output.describedResource),
  instrumentationScope: ({ observed }) => scopeOf(observed.scope),
  instrumentationLibrary: ({ observed }) => scopeOf(observed.scope),
  droppedAttributesCount: ({ extras }) => extras?.droppedAttributes ?? 0,
  droppedEventsCount: ({ extras }) => extras?.droppedEvents ?? 0,
  droppedLinksCount: ({ extras }) => extras?.droppedLinks ?? 0,
};

/** Gives all spans the fields that processors and exporters of OpenTelemetry's SDK read. */
export function installReadableFields(): void {
  for (const [name, read] of Object.entries(fields) as [string, (span: Span) => unknown][]) {
    Object.defineProperty(spans.Span.prototype, name, {
      configurable: true,
      get(this: Span & { observed?: Observed }): unknown {
        return this.observed === undefined ? undefined : read(this);
      },
    });
  }
}
