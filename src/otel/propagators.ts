import type {
  Baggage,
  BaggageEntry,
  Context,
  SpanContext,
  TextMapGetter,
  TextMapPropagator,
  TextMapSetter,
} from '@opentelemetry/api';
import { formatEntries, parseEntries } from '../spans/context/baggage.js';
import type { FormattedEntry } from '../spans/context/baggage.js';
import {
  BAGGAGE,
  CARRIED_HEADERS,
  MAX_HEADERS,
  TRACE_PARENT,
  TRACE_STATE,
} from '../spans/context/header-format.js';
import type { Extracted } from '../spans/context/header-format.js';
import { propagated } from '../spans/context/propagators-variable.js';
import {
  checkTraceState,
  formatTraceParent,
  parseTraceParent,
} from '../spans/context/trace-context.js';
import type { TraceParent } from '../spans/context/trace-context.js';
import { sentTraceState } from '../spans/context/trace-state-entries.js';
import { spans } from '../spans/shared-spans.js';
import type { Span } from '../spans/span.js';
import { activeIn } from './api-context.js';
import { addOwn } from './api-globals.js';
import { BaggageView, entriesOf, entryOf } from './baggage-view.js';
import { BAGGAGE_KEY, SPAN_KEY, SUPPRESS_TRACING_KEY } from './keys.js';
import { isOwnSpan, standInOf } from './span-context.js';
import { countWrongArgument } from './wrong-arguments.js';

/** The values of a header; undefined if there is none. */
function headers<Carrier>(
  getter: TextMapGetter<Carrier>,
  carrier: Carrier,
  name: string,
): string[] | undefined {
  const value: unknown = getter.get(carrier, name);
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_HEADERS).filter((each) => typeof each === 'string');
}

function isSuppressed(context: Context): boolean {
  return context.getValue(SUPPRESS_TRACING_KEY) === true;
}

/**
 * W3C's headers `traceparent` and `tracestate`, and `baggage`, through the API's contexts, getters and setters.
 * `OTEL_PROPAGATORS` chooses among them.
 */
export class W3CPropagator implements TextMapPropagator {
  constructor() {
    addOwn(this);
  }

  inject<Carrier>(context: Context, carrier: Carrier, setter: TextMapSetter<Carrier>): void {
    try {
      if (isSuppressed(context)) return;
      injectSpan(context.getValue(SPAN_KEY), carrier, setter);
      injectBaggage(context.getValue(BAGGAGE_KEY), carrier, setter);
    } catch {
      countWrongArgument();
    }
  }

  extract<Carrier>(context: Context, carrier: Carrier, getter: TextMapGetter<Carrier>): Context {
    try {
      const baggage = extractBaggage(carrier, getter);
      const withBaggage = baggage === undefined ? context : context.setValue(BAGGAGE_KEY, baggage);
      return extractSpan(withBaggage, carrier, getter);
    } catch {
      countWrongArgument();
      return context;
    }
  }

  fields(): string[] {
    const own = CARRIED_HEADERS.filter((name) =>
      name === BAGGAGE ? propagated.baggage : propagated.trace,
    );
    return [...new Set([...own, ...propagated.formats.flatMap(({ fields }) => fields)])];
  }
}

function injectSpan<Carrier>(
  span: unknown,
  carrier: Carrier,
  setter: TextMapSetter<Carrier>,
): void {
  if (typeof span !== 'object' || span === null) return;
  if (!propagated.trace && propagated.formats.length === 0) return;
  const own = isOwnSpan(span)
    ? span.activeSpan
    : standInOf((span as { spanContext(): SpanContext }).spanContext(), undefined);
  if (own === undefined) return;
  spans.noteInjected(own);
  for (const format of propagated.formats) {
    format.inject(own, (name, value) => {
      setter.set(carrier, name, value);
    });
  }
  if (!propagated.trace) return;
  setter.set(carrier, TRACE_PARENT, formatTraceParent(own.ids));
  const traceState = sentTraceState(own);
  if (traceState !== '') setter.set(carrier, TRACE_STATE, traceState);
}

function injectBaggage<Carrier>(
  baggage: unknown,
  carrier: Carrier,
  setter: TextMapSetter<Carrier>,
): void {
  if (baggage === undefined || baggage === null || !propagated.baggage) return;
  const entries = entriesOf(baggage).map(([name, { value, metadata }]): FormattedEntry => [
    name,
    value,
    metadata?.toString() ?? '',
  ]);
  const header = formatEntries(entries);
  if (header !== '') setter.set(carrier, BAGGAGE, header);
}

/** W3C's headers. */
function extractTrace<Carrier>(
  carrier: Carrier,
  getter: TextMapGetter<Carrier>,
): Extracted | undefined {
  if (!propagated.trace) return undefined;
  const [header, ...others] = headers(getter, carrier, TRACE_PARENT) ?? [];
  if (header === undefined || others.length > 0) return undefined;
  const parent = parseTraceParent(header.trim());
  if (parent === undefined) return undefined;
  const state = headers(getter, carrier, TRACE_STATE);
  return { parent, traceState: state === undefined ? '' : checkTraceState(state.join(',')) };
}

function extractOther<Carrier>(
  carrier: Carrier,
  getter: TextMapGetter<Carrier>,
): Extracted | undefined {
  for (const format of propagated.formats) {
    const found = format.extract(
      (name) => headers(getter, carrier, name)?.join(','),
      () => getter.keys(carrier),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The request, or other local root, that is active and of a trace: Next.js hands its own spans on in headers. */
function rootOf([t0, t1, t2, t3]: TraceParent['trace']): Span | undefined {
  const root = spans.activeContext()?.activeSpan?.root;
  if (root?.output === undefined) return undefined;
  return root.t3 === t3 && root.t2 === t2 && root.t1 === t1 && root.t0 === t0 ? root : undefined;
}

function extractSpan<Carrier>(
  context: Context,
  carrier: Carrier,
  getter: TextMapGetter<Carrier>,
): Context {
  const found = extractTrace(carrier, getter) ?? extractOther(carrier, getter);
  if (found?.parent === undefined) return context;
  const { parent, traceState } = found;
  const carried = activeIn(context)?.carried;
  const { trace, span, flags } = parent;
  const root = rootOf(trace);
  const standIn = spans.standIn(trace, span, flags, true, traceState, carried, root);
  // A span is a context of its own: with nothing else in it, no other is needed.
  return standIn as unknown as Context;
}

function extractBaggage<Carrier>(
  carrier: Carrier,
  getter: TextMapGetter<Carrier>,
): Baggage | undefined {
  const header = propagated.baggage ? headers(getter, carrier, BAGGAGE) : undefined;
  if (header === undefined) return undefined;
  const entries = new Map<string, BaggageEntry>();
  for (const [name, value, properties] of parseEntries(header.join(','))) {
    entries.set(name, entryOf(value, properties));
  }
  return entries.size === 0 ? undefined : new BaggageView(entries);
}
