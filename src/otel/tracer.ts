import type { Context, Link, Span as ApiSpan, SpanOptions, Tracer } from '@opentelemetry/api';
import type { ActiveContext } from '../spans/context/active-context.js';
import { KIND_BITS, KIND_SHIFT } from '../spans/layout.js';
import type { Scope } from '../spans/scope.js';
import { spans } from '../spans/shared-spans.js';
import { isErrorPage } from '../spans/route.js';
import { sayRoute } from '../spans/said-route.js';
import { MINOR } from '../spans/span.js';
import type { Span } from '../spans/span.js';
import { activeIn, withoutSpan } from './api-context.js';
import { attributesOf, givenAttributes } from './attributes.js';
import { activeElsewhere, isOwnManager } from './api-globals.js';
import { askSampler } from './sampler.js';
import { linksOf } from './span-links.js';
import { instantOf } from './time-input.js';
import { countWrongArgument } from './wrong-arguments.js';
import type { SpanSampler } from './sampler.js';

/** Attributes by which the spans of frameworks say the route of their request, from the start on. */
const ROUTES: Readonly<Partial<Record<string, string>>> = {
  'next.js': 'next.route',
  sveltekit: 'http.route',
};
/** SvelteKit's word for a path without a route. */
const UNKNOWN = 'unknown';

/** Whether spans of a framework are recorded that took no time: Next.js itself asks so. */
const isVerbose = (): boolean => process.env['NEXT_OTEL_VERBOSE'] === '1';

/** The route that the options of a span say; empty: none. */
function routeIn(options: SpanOptions | undefined, name: string): string {
  try {
    const route: unknown = options?.attributes?.[name];
    return typeof route === 'string' && route !== UNKNOWN && !isErrorPage(route) ? route : '';
  } catch {
    return '';
  }
}

/** Settings that the tracers of a provider share. */
export interface TracerPolicy {
  /** Decides about each span. Undefined: the sampling of tracewright/spans. */
  sampler: SpanSampler | undefined;
}

const { activeContext, prefixOf, runWithOne, startIn, startInWith } = spans;

type Active = ActiveContext | undefined;
type Callback = (span: ApiSpan) => unknown;

const INTERNAL = 0;
const CONSUMER = 4;

/** The active context, where none was given. */
function activeNow(): Active {
  return isOwnManager() ? activeContext() : activeIn(activeElsewhere());
}

function kindOf(kind: unknown): number {
  if (kind === undefined) return INTERNAL;
  if (typeof kind === 'number' && Number.isInteger(kind) && kind >= INTERNAL && kind <= CONSUMER) {
    return kind;
  }
  countWrongArgument();
  return INTERNAL;
}

/** Starts the spans of one library. */
export class TracewrightTracer implements Tracer {
  readonly #scope: Scope;
  readonly #policy: TracerPolicy;
  /** The attribute that says the route; undefined: none does. */
  readonly #route: string | undefined;

  constructor(scope: Scope, policy: TracerPolicy) {
    this.#scope = scope;
    this.#policy = policy;
    this.#route = Object.hasOwn(ROUTES, scope.name) ? ROUTES[scope.name] : undefined;
  }

  startSpan(name: string, options?: SpanOptions, context?: Context): ApiSpan {
    const active = context === undefined ? activeNow() : activeIn(context);
    return this.#begin(name, options, active) as unknown as ApiSpan;
  }

  startActiveSpan<Fn extends (span: ApiSpan) => unknown>(name: string, fn: Fn): ReturnType<Fn>;
  startActiveSpan<Fn extends (span: ApiSpan) => unknown>(
    name: string,
    options: SpanOptions,
    fn: Fn,
  ): ReturnType<Fn>;
  startActiveSpan<Fn extends (span: ApiSpan) => unknown>(
    name: string,
    options: SpanOptions,
    context: Context,
    fn: Fn,
  ): ReturnType<Fn>;
  startActiveSpan(
    name: string,
    second?: SpanOptions | Callback,
    third?: Context | Callback,
    fourth?: Callback,
  ): unknown {
    let options: SpanOptions | undefined;
    let context: Context | undefined;
    let fn: Callback | undefined;
    if (typeof second === 'function') {
      fn = second;
    } else if (typeof third === 'function') {
      options = second;
      fn = third;
    } else {
      options = second;
      context = third;
      fn = fourth;
    }
    if (typeof fn !== 'function') {
      countWrongArgument();
      return undefined;
    }
    const active = context === undefined ? activeNow() : activeIn(context);
    const span = this.#begin(name, options, active);
    // A span that carries what was active is the context that contains it.
    return runWithOne(span, fn, span as unknown as ApiSpan);
  }

  #begin(name: unknown, options: SpanOptions | undefined, active: Active): Span {
    const span = this.#start(name, options, active);
    if (this.#route !== undefined) {
      const route = routeIn(options, this.#route);
      if (route !== '') sayRoute(span, route);
      if ((span.flags & KIND_BITS) === INTERNAL && !isVerbose()) span.flags |= MINOR;
    }
    return span;
  }

  #start(name: unknown, options: SpanOptions | undefined, active: Active): Span {
    const given = typeof name === 'string' ? name : this.#nameOf(name);
    if (this.#policy.sampler === undefined) {
      if (options === undefined) return startIn(active, prefixOf(given, this.#scope, INTERNAL));
      try {
        const { links, root, startTime } = options;
        if (links === undefined && root !== true && startTime === undefined) {
          const prefix = prefixOf(given, this.#scope, kindOf(options.kind) << KIND_SHIFT);
          return startIn(active, prefix, givenAttributes(options.attributes));
        }
      } catch {
        // A getter, a proxy, or null: once more below.
      }
    }
    return this.#startUnusual(given, options, active);
  }

  #startUnusual(name: string, options: SpanOptions | undefined, active: Active): Span {
    const { attributes, kind, links, root, startTime } = readOptions(options);
    const { sampler } = this.#policy;
    const ownKind = kindOf(kind);
    const context = root === true ? withoutSpan(active) : active;
    const prefix = prefixOf(name, this.#scope, ownKind << KIND_SHIFT);
    return startInWith(context, prefix, attributesOf(attributes), {
      root: root === true,
      startTime: instantOf(startTime),
      links: linksOf(links),
      decide:
        sampler === undefined
          ? undefined
          : (span) => askSampler(sampler, span, ownKind, context, (links ?? []) as Link[]),
    });
  }

  #nameOf(name: unknown): string {
    countWrongArgument();
    try {
      return String(name);
    } catch {
      return '';
    }
  }
}

/** Options, each read once; what cannot be read is not set. */
function readOptions(options: unknown): Partial<Record<keyof SpanOptions, unknown>> {
  if (options === undefined || options === null) return {};
  const read: Partial<Record<keyof SpanOptions, unknown>> = {};
  for (const name of ['attributes', 'kind', 'links', 'root', 'startTime'] as const) {
    try {
      read[name] = (options as SpanOptions)[name];
    } catch {
      countWrongArgument();
    }
  }
  return read;
}
