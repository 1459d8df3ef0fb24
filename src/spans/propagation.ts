import { wrongType } from '../core/errors.js';
import { isArray } from '../core/taken-elements.js';
import { hasNames } from './attributes.js';
import { activeContext, CarriedScope } from './context/active-context.js';
import { runWith } from './context/context-storage.js';
import { formatBaggage, isBaggageName, NO_BAGGAGE, parseBaggage } from './context/baggage.js';
import type { Baggage } from './context/baggage.js';
import { CarriedBaggage } from './context/carried.js';
import {
  BAGGAGE,
  MAX_HEADERS,
  programFormat,
  TRACE_PARENT,
  TRACE_STATE,
} from './context/header-format.js';
import type { HeaderFormat } from './context/header-format.js';
import { TRACE_FLAGS_MASK } from './layout.js';
import { propagated } from './context/propagators-variable.js';
import { RemoteParent } from './context/remote-parent.js';
import { ownParentIn, sentTraceState } from './context/trace-state-entries.js';
import { checkTraceState, parseTraceParent, traceParentOf } from './context/trace-context.js';
import type { Span } from './span.js';

/** Headers as an object, as `Headers`, or as a Map. */
export type Carrier = object;

interface Settable {
  set(name: string, value: string): unknown;
}
interface Gettable {
  get(name: string): unknown;
}

function isCarrier(carrier: unknown): carrier is object {
  return typeof carrier === 'object' && carrier !== null && !ArrayBuffer.isView(carrier);
}

function put(carrier: object, name: string, value: string): void {
  if (typeof (carrier as Partial<Settable>).set === 'function') {
    (carrier as Settable).set(name, value);
  } else {
    (carrier as Record<string, string>)[name] = value;
  }
}

/** The values of a header, whatever the case of its name; undefined if there is none. */
function read(carrier: object, name: string): string[] | undefined {
  let value: unknown;
  if (typeof (carrier as Partial<Gettable>).get === 'function') {
    value = (carrier as Gettable).get(name);
  } else {
    value = (carrier as Record<string, unknown>)[name];
    if (value === undefined) {
      const key = Object.keys(carrier).find(
        (each) => each.length === name.length && each.toLowerCase() === name,
      );
      value = key === undefined ? undefined : (carrier as Record<string, unknown>)[key];
    }
  }
  if (typeof value === 'string') return [value];
  if (!isArray(value)) return undefined;
  const texts: string[] = [];
  for (let i = 0; i < value.length && i < MAX_HEADERS; i++) {
    const text = value[i];
    if (typeof text === 'string') texts.push(text);
  }
  return texts;
}

/** Puts the headers of a format, unless the program has put one of them. */
function putFormat(format: HeaderFormat, span: Span, carrier: object): void {
  if (format.fields.some((name) => read(carrier, name) !== undefined)) return;
  format.inject(span, (name, value) => {
    put(carrier, name, value);
  });
}

/** The headers of a span: `traceparent`, `tracestate` and `baggage`, unless others are wanted. */
export function injectSpan(span: Span, baggage: Baggage | undefined, carrier: object): void {
  if (programFormat.format !== undefined) {
    putFormat(programFormat.format, span, carrier);
    return;
  }
  if (propagated.trace) {
    put(carrier, TRACE_PARENT, traceParentOf(span, span.flags & TRACE_FLAGS_MASK));
    const traceState = sentTraceState(span);
    if (traceState !== '') put(carrier, TRACE_STATE, traceState);
  }
  for (const format of propagated.formats) putFormat(format, span, carrier);
  injectBaggage(baggage, carrier);
}

function injectBaggage(baggage: Baggage | undefined, carrier: object): void {
  if (baggage === undefined || !propagated.baggage) return;
  const header = formatBaggage(baggage);
  if (header !== '') put(carrier, BAGGAGE, header);
}

/**
 * Puts what is active into headers of a request: `traceparent`, `tracestate` and `baggage`. Without an active
 * span and baggage it changes nothing.
 *
 * @param carrier an object, a `Headers` or a Map.
 * @returns the carrier.
 */
export function inject<Headers extends Carrier>(carrier: Headers): Headers {
  if (!isCarrier(carrier)) throw wrongType('carrier', carrier, 'an object, a Headers or a Map');
  const active = activeContext();
  if (active === undefined) return carrier;
  if (active.activeSpan === undefined) injectBaggage(active.carried?.baggage, carrier);
  else injectSpan(active.activeSpan, active.carried?.baggage, carrier);
  return carrier;
}

/** @param baggage unless the format has its own. */
function readFormat(
  format: HeaderFormat,
  carrier: object,
  baggage: Baggage | undefined,
): RemoteParent | undefined {
  const found = format.extract(
    (name) => read(carrier, name)?.join(','),
    () => Object.keys(carrier),
  );
  return found && new RemoteParent(found.parent, found.traceState, found.baggage ?? baggage);
}

/** Headers that carry a trace by other formats than W3C's, in lower case. */
export function otherHeaders(): readonly string[] {
  return programFormat.format?.fields ?? propagated.formats.flatMap(({ fields }) => fields);
}

/**
 * Reads the headers of a request, to be the `parent` of a span. Headers that are not valid by W3C's rules are
 * ignored.
 *
 * @param carrier an object such as `request.headers`, a `Headers` or a Map.
 * @returns undefined when there is neither a trace nor baggage.
 */
export function extract(carrier: Carrier): RemoteParent | undefined {
  if (!isCarrier(carrier)) throw wrongType('carrier', carrier, 'an object, a Headers or a Map');
  if (programFormat.format !== undefined)
    return readFormat(programFormat.format, carrier, undefined);
  const headers = propagated.trace ? read(carrier, TRACE_PARENT) : undefined;
  const parent = headers?.length === 1 ? parseTraceParent(headers[0]!.trim()) : undefined;
  const baggageHeader = propagated.baggage ? read(carrier, BAGGAGE) : undefined;
  const baggage = baggageHeader === undefined ? undefined : parseBaggage(baggageHeader.join(','));
  if (parent === undefined) {
    for (const format of propagated.formats) {
      const found = readFormat(format, carrier, baggage);
      if (found !== undefined) return found;
    }
    if (baggage === undefined) return undefined;
  }
  const state = parent === undefined ? undefined : read(carrier, TRACE_STATE);
  const traceState = state === undefined ? '' : checkTraceState(state.join(','));
  const own = ownParentIn(traceState);
  const ownParent = own === undefined ? undefined : parseTraceParent(own.traceParent);
  if (own === undefined || ownParent === undefined) {
    return new RemoteParent(parent, traceState, baggage);
  }
  return new RemoteParent(ownParent, own.others, baggage);
}

/** The baggage that is active. */
export function getBaggage(): Baggage {
  return activeContext()?.carried?.baggage ?? NO_BAGGAGE;
}

/**
 * Calls `fn` with entries added to the active baggage, or replacing those of the same name. Requests that
 * are sent meanwhile carry it.
 *
 * @throws TracewrightError for a name that is no token of RFC 7230, and a value that is no string.
 */
export function withBaggage<Result>(entries: Baggage, fn: () => Result): Result {
  const given: unknown = entries;
  if (!hasNames(given)) throw wrongType('entries', given, 'an object of names and texts');
  if (typeof fn !== 'function') throw wrongType('fn', fn, 'a function');
  const merged = Object.assign(Object.create(null), getBaggage()) as Record<string, string>;
  for (const [name, value] of Object.entries(given)) {
    if (!isBaggageName(name)) throw wrongType('name of baggage', name, 'a token of RFC 7230');
    if (typeof value !== 'string') throw wrongType(`baggage ${name}`, value, 'a string');
    merged[name] = value;
  }
  const active = activeContext();
  const baggage = Object.freeze(merged);
  const carried = active?.carried?.withBaggage(baggage) ?? new CarriedBaggage(baggage);
  return runWith(new CarriedScope(active?.activeSpan, carried), fn);
}
