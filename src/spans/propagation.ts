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
import { allFormats, propagated } from './context/propagators-variable.js';
import { RemoteParent } from './context/remote-parent.js';
import { ownParentIn, sentTraceState } from './context/trace-state-entries.js';
import { checkTraceState, parseTraceParent, traceParentOf } from './context/trace-context.js';
import type { TraceParent } from './context/trace-context.js';
import { SHOWN } from './span.js';
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

interface Deletable {
  delete(name: string): unknown;
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
  if (Buffer.isBuffer(value)) return [value.toString()];
  if (!isArray(value)) return undefined;
  const texts: string[] = [];
  for (let i = 0; i < value.length && i < MAX_HEADERS; i++) {
    const text = value[i];
    if (typeof text === 'string') texts.push(text);
  }
  return texts;
}

function remove(carrier: object, name: string): void {
  if (typeof (carrier as Partial<Deletable>).delete === 'function') {
    (carrier as Deletable).delete(name);
    return;
  }
  for (const key of Object.keys(carrier)) {
    if (key.length === name.length && key.toLowerCase() === name)
      Reflect.deleteProperty(carrier, key);
  }
  // Of an object that inherits the program's headers.
  if (name in carrier) Reflect.set(carrier, name, undefined);
}

function has(carrier: object, name: string): boolean {
  return read(carrier, name) !== undefined;
}

function putFormat(format: HeaderFormat, span: Span, carrier: object): void {
  format.inject(span, (name, value) => {
    put(carrier, name, value);
  });
}

function putTrace(span: Span, carrier: object): void {
  span.flags |= SHOWN;
  put(carrier, TRACE_PARENT, traceParentOf(span, span.flags & TRACE_FLAGS_MASK));
  const traceState = sentTraceState(span);
  if (traceState !== '') put(carrier, TRACE_STATE, traceState);
}

/** Spans below one request whose ids are remembered. */
const MOST_INJECTED = 16;
/** The ids that the program has put into headers itself, by the topmost span of each. */
const injected = new WeakMap<Span, [number, number][]>();

/** Remembers that the program has got the headers of a span. It may pass them on to what is sent below another one. */
export function noteInjected({ root, s0, s1 }: Span): void {
  const ids = injected.get(root) ?? [];
  if (ids.some(([high, low]) => high === s0 && low === s1)) return;
  ids.push([s0, s1]);
  if (ids.length > MOST_INJECTED) ids.shift();
  injected.set(root, ids);
}

/** Whether headers are those of a span below the same request, as the program has got them. */
function isInjected({ root }: Span, { trace: [t0, t1, t2, t3], span }: TraceParent): boolean {
  const ids = injected.get(root);
  return (
    ids !== undefined &&
    root.t0 === t0 &&
    root.t1 === t1 &&
    root.t2 === t2 &&
    root.t3 === t3 &&
    ids.some(([high, low]) => high === span[0] && low === span[1])
  );
}

/** The headers of a span: `traceparent`, `tracestate` and `baggage`, unless others are wanted. */
function injectSpan(span: Span, baggage: Baggage | undefined, carrier: object): void {
  noteInjected(span);
  const { format } = programFormat;
  if (format !== undefined) {
    putFormat(format, span, carrier);
    return;
  }
  if (propagated.trace) putTrace(span, carrier);
  for (const each of propagated.formats) putFormat(each, span, carrier);
  injectBaggage(baggage, carrier);
}

/** Who a span is below by headers of W3C: the sender's own, where another agent's `traceparent` is next to it. */
function traceIn(carrier: object, baggage?: Baggage): RemoteParent | undefined {
  const headers = read(carrier, TRACE_PARENT);
  const parent = headers?.length === 1 ? parseTraceParent(headers[0]!.trim()) : undefined;
  if (parent === undefined) return undefined;
  const state = read(carrier, TRACE_STATE);
  const traceState = state === undefined ? '' : checkTraceState(state.join(','));
  const own = ownParentIn(traceState);
  const ownParent = own === undefined ? undefined : parseTraceParent(own.traceParent);
  return own === undefined || ownParent === undefined
    ? new RemoteParent(parent, traceState, baggage)
    : new RemoteParent(ownParent, own.others, baggage);
}

/**
 * Whether a message was given headers that its sender has received, or those of a span of this process: its span is to
 * be in between.
 */
function isCopied(span: Span, parent: TraceParent | undefined): boolean {
  if (parent === undefined) return false;
  return span.carried?.senders?.include(parent) === true || isInjected(span, parent);
}

/**
 * Has a message carry a span on. Headers that the program has chosen stay, and so do those of another agent. Those that
 * it has copied, from what it received or from `inject`, are replaced, in each format that it has copied.
 *
 * @param baggage unless the message has its own.
 * @param carrier an object of texts, or what has `get`, `set` and `delete`.
 * @returns whether the message carries the span.
 */
export function sendSpan(span: Span, baggage: Baggage | undefined, carrier: object): boolean {
  const { format } = programFormat;
  if (format !== undefined) return sendFormat(format, span, carrier);
  let isSent = true;
  if (!has(carrier, TRACE_PARENT)) {
    if (propagated.trace) putTrace(span, carrier);
  } else if (isCopied(span, traceIn(carrier)?.parent)) {
    if (!isSigned(carrier)) replaceCopied(span, carrier);
  } else {
    isSent = false;
  }
  for (const each of propagated.formats) sendFormat(each, span, carrier);
  if (baggage !== undefined && !has(carrier, BAGGAGE)) injectBaggage(baggage, carrier);
  return isSent;
}

function sendFormat(format: HeaderFormat, span: Span, carrier: object): boolean {
  if (format.fields.some((name) => has(carrier, name))) {
    if (!isCopied(span, readFormat(format, carrier, undefined)?.parent)) return false;
    for (const name of format.fields) remove(carrier, name);
  }
  putFormat(format, span, carrier);
  return true;
}

function replaceCopied(span: Span, carrier: object): void {
  // Those that this process does not read itself were copied too.
  const copied = allFormats().filter(
    (format) =>
      has(carrier, format.fields[0]!) &&
      isCopied(span, readFormat(format, carrier, undefined)?.parent),
  );
  for (const name of [TRACE_PARENT, TRACE_STATE, ...copied.flatMap(({ fields }) => fields)]) {
    remove(carrier, name);
  }
  putTrace(span, carrier);
  for (const format of copied) putFormat(format, span, carrier);
}

/** Where signatures list the headers that they cover: AWS's `SignedHeaders`, and RFC 9421. */
const SIGNATURES = ['authorization', 'signature-input', 'signature'];

/** Of a URL whose query has the signature, as AWS and Google sign it. */
const SIGNED_QUERY = /[?&]X-\w+-SignedHeaders=[^&]*trace(?:parent|state)/i;

/** Whether a signature covers headers of the trace: the receiver refuses other values. */
export function isSigned(carrier: { readonly path?: unknown }): boolean {
  if (typeof carrier.path === 'string' && SIGNED_QUERY.test(carrier.path)) return true;
  return SIGNATURES.some((name) =>
    read(carrier, name)?.some((text) => /\btrace(?:parent|state)\b/i.test(text)),
  );
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
  const baggageHeader = propagated.baggage ? read(carrier, BAGGAGE) : undefined;
  const baggage = baggageHeader === undefined ? undefined : parseBaggage(baggageHeader.join(','));
  const sent = propagated.trace ? traceIn(carrier, baggage) : undefined;
  if (sent !== undefined) return sent;
  for (const format of propagated.formats) {
    const found = readFormat(format, carrier, baggage);
    if (found !== undefined) return found;
  }
  return baggage === undefined ? undefined : new RemoteParent(undefined, '', baggage);
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
