import type { Context } from '@opentelemetry/api';
import type { ActiveContext } from '../spans/context/active-context.js';
import type { Baggage } from '../spans/context/baggage.js';
import type { Carried, Senders } from '../spans/context/carried.js';
import { spans } from '../spans/shared-spans.js';
import { SHOWN } from '../spans/span.js';
import type { Span } from '../spans/span.js';
import { plainBaggage, viewOf } from './baggage-view.js';
import { BAGGAGE_KEY, SPAN_KEY, SUPPRESS_TRACING_KEY } from './keys.js';
import { isOwnSpan, standInOfForeign } from './span-context.js';
import { countWrongArgument } from './wrong-arguments.js';

const { CarriedBaggage, CarriedScope, Span: SpanClass } = spans;

/** Values that a program has put into a context of the API, but for the span. */
class ContextValues implements Carried {
  readonly suppressesTracing: boolean;
  readonly senders: Senders | undefined;
  readonly #values: ReadonlyMap<symbol, unknown>;
  /** A context of a class that is not known, for what is not among the values. */
  readonly #others: Context | undefined;
  #baggage: Baggage | undefined = undefined;
  #knowsBaggage = false;

  constructor(
    values: ReadonlyMap<symbol, unknown>,
    others: Context | undefined,
    senders: Senders | undefined,
  ) {
    this.#values = values;
    this.#others = others;
    this.senders = senders;
    this.suppressesTracing = this.get(SUPPRESS_TRACING_KEY) === true;
  }

  get baggage(): Baggage | undefined {
    if (!this.#knowsBaggage) {
      this.#baggage = plainBaggage(this.get(BAGGAGE_KEY));
      this.#knowsBaggage = true;
    }
    return this.#baggage;
  }

  withBaggage(baggage: Baggage): Carried {
    return this.with(BAGGAGE_KEY, viewOf(baggage, this.get(BAGGAGE_KEY)));
  }

  withSenders(senders: Senders): Carried {
    return new ContextValues(this.#values, this.#others, senders);
  }

  get(key: symbol): unknown {
    return this.#values.has(key) ? this.#values.get(key) : this.#others?.getValue(key);
  }

  with(key: symbol, value: unknown): ContextValues {
    return new ContextValues(new Map(this.#values).set(key, value), this.#others, this.senders);
  }

  without(key: symbol): Carried | undefined {
    const values = new Map(this.#values);
    values.delete(key);
    const others = this.#others?.deleteValue(key);
    const { senders } = this;
    if (values.size > 0 || others !== undefined) return new ContextValues(values, others, senders);
    return senders === undefined ? undefined : new CarriedBaggage(undefined, senders);
  }
}

function valueIn(carried: Carried | undefined, key: symbol): unknown {
  if (carried === undefined) return undefined;
  if (carried instanceof ContextValues) return carried.get(key);
  if (key !== BAGGAGE_KEY || !(carried instanceof CarriedBaggage)) return undefined;
  if (carried.baggage === undefined) return undefined;
  return (carried.shown ??= viewOf(carried.baggage, undefined));
}

/** All of it as values, to add one. */
function valuesOf(carried: Carried | undefined): ContextValues {
  if (carried instanceof ContextValues) return carried;
  const baggage = valueIn(carried, BAGGAGE_KEY);
  const values = new Map<symbol, unknown>(baggage === undefined ? [] : [[BAGGAGE_KEY, baggage]]);
  return new ContextValues(values, undefined, carried?.senders);
}

/** A context that is neither a span nor the API's own root. */
export class ApiContext implements Context, ActiveContext {
  /** The span of the context as the API knows it: ours, or one of another library. */
  readonly span: unknown;
  readonly carried: Carried | undefined;
  /** The context that the API sees while this is active. */
  readonly shown: Context;
  #activeSpan: Span | undefined = undefined;
  #knowsSpan = false;

  constructor(span: unknown, carried: Carried | undefined, shown?: Context) {
    this.span = span;
    this.carried = carried;
    this.shown = shown ?? this;
  }

  get activeSpan(): Span | undefined {
    if (!this.#knowsSpan) {
      const { span } = this;
      this.#activeSpan = isOwnSpan(span) ? span.activeSpan : standInOfForeign(span, this.carried);
      this.#knowsSpan = true;
    }
    return this.#activeSpan;
  }

  getValue(key: symbol): unknown {
    return key === SPAN_KEY ? this.span : valueIn(this.carried, key);
  }

  setValue(key: symbol, value: unknown): Context {
    return contextWith(this.span, this.carried, key, value);
  }

  deleteValue(key: symbol): Context {
    return contextWithout(this.span, this.carried, key);
  }
}

function contextWith(
  span: unknown,
  carried: Carried | undefined,
  key: symbol,
  value: unknown,
): Context {
  if (key !== SPAN_KEY) return new ApiContext(span, valuesOf(carried).with(key, value));
  if (!isOwnSpan(value)) return new ApiContext(value, carried);
  const below = carriedBelow(value, carried);
  // A span with nothing else is its own context.
  return value.carried === below ? (value as unknown as Context) : new ApiContext(value, below);
}

/** The values carried by a context that gets a span, for which others may have sent work. */
function carriedBelow(span: Span, carried: Carried | undefined): Carried | undefined {
  const senders = span.carried?.senders;
  if (senders === undefined || senders === carried?.senders) return carried;
  if (carried !== undefined) return carried.withSenders(senders);
  return (span.carried as object) === senders
    ? span.carried
    : new CarriedBaggage(undefined, senders);
}

function contextWithout(span: unknown, carried: Carried | undefined, key: symbol): Context {
  if (key === SPAN_KEY) return new ApiContext(undefined, carried);
  return new ApiContext(span, valuesOf(carried).without(key));
}

/** The methods of a context, for the classes of tracewright/spans that are contexts of their own. */
const contextMethods = {
  getValue(this: ActiveContext, key: symbol): unknown {
    if (key !== SPAN_KEY) return valueIn(this.carried, key);
    const { activeSpan } = this;
    if (activeSpan !== undefined) activeSpan.flags |= SHOWN;
    return activeSpan;
  },
  setValue(this: ActiveContext, key: symbol, value: unknown): Context {
    return contextWith(this.activeSpan, this.carried, key, value);
  },
  deleteValue(this: ActiveContext, key: symbol): Context {
    return contextWithout(this.activeSpan, this.carried, key);
  },
};

/** Gives spans, and what is active without one, the methods of the API's contexts. */
export function installContextMethods(): void {
  for (const { prototype } of [SpanClass, CarriedScope]) {
    for (const [name, value] of Object.entries(contextMethods)) {
      Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
    }
  }
}

const roots = new WeakSet();

/** The root of a copy of the API, which holds nothing. */
export function addRoot(root: Context): void {
  roots.add(root);
}

/** The active span and values of a context that the API has handed over; undefined: none. */
export function activeIn(context: unknown): ActiveContext | undefined {
  try {
    if (context instanceof SpanClass || context instanceof ApiContext) return context;
    if (typeof context !== 'object' || context === null || roots.has(context)) return undefined;
    return context instanceof CarriedScope ? context : ofForeign(context as Context);
  } catch {
    // It is no context.
    countWrongArgument();
    return undefined;
  }
}

/** Contexts of the API's own class. Its field has been there from 1.0 on. */
interface MapContext {
  _currentContext?: unknown;
}

function ofForeign(context: Context): ApiContext | undefined {
  const values = (context as MapContext)._currentContext;
  const span = context.getValue(SPAN_KEY);
  const senders = isOwnSpan(span) ? span.carried?.senders : undefined;
  if (!(values instanceof Map)) {
    // Without the span: one below would keep all those above in memory.
    const others = new ContextValues(new Map(), context.deleteValue(SPAN_KEY), senders);
    return new ApiContext(span, others, context);
  }
  const known = values as Map<symbol, unknown>;
  if (known.size === (known.has(SPAN_KEY) ? 1 : 0)) {
    const carried = senders === undefined ? undefined : new CarriedBaggage(undefined, senders);
    return new ApiContext(span, carried, context);
  }
  const rest = new Map(known);
  rest.delete(SPAN_KEY);
  return new ApiContext(span, new ContextValues(rest, undefined, senders), context);
}

const EMPTY = new ApiContext(undefined, undefined);

/** The context of what is active, for code of the program. */
export function shownContext(active: ActiveContext | undefined): Context {
  if (active === undefined) return EMPTY;
  return active instanceof ApiContext ? active.shown : (active as unknown as Context);
}

/** The active values, without the span. */
export function withoutSpan(active: ActiveContext | undefined): ActiveContext | undefined {
  return active?.carried === undefined ? undefined : new ApiContext(undefined, active.carried);
}
