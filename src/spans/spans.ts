import { wrongType } from '../core/errors.js';
import { activeContext, runWith } from './context/active-context.js';
import type { ActiveContext } from './context/active-context.js';
import { randomWord } from './context/ids.js';
import { RemoteParent } from './context/remote-parent.js';
import { KIND_SHIFT, KINDS, PARENT_REMOTE, TRACE_FLAGS_MASK } from './layout.js';
import type { SpanKind } from './layout.js';
import { checkName, hasSource, openOutput, output } from './recording.js';
import { isInShare } from './sampling.js';
import type { Scope } from './scope.js';
import { NOT_RECORDED, OPEN, snapshot, Span } from './span.js';
import type { SpanAttributes, SpanLink } from './span.js';
import type { Instant } from './time.js';
import type { SpanOutput } from './write/span-output.js';

/** Options of a span. */
export interface StartOptions {
  /** Default `internal`. */
  kind?: SpanKind;
  /** Default: the active span. `null`: none, a new trace begins. */
  parent?: Span | RemoteParent | null;
  /** Default: now. */
  startTime?: Instant;
  links?: readonly SpanLink[];
}

const SAMPLED = 1;
const RANDOM = 2;

/** What is returned while nothing is recorded and nothing is active. */
const NOTHING = new Span(undefined, NOT_RECORDED, '');

type Parent = Span | RemoteParent | undefined;

/**
 * Starts a span. It is not active: {@link withSpan} and `span.run` make it so.
 *
 * @param name what is done, with few different values: `GET /users/:id`.
 * @throws TracewrightError for an argument of the wrong type.
 */
export function startSpan(name: string, attributes?: SpanAttributes, options?: StartOptions): Span {
  const to = output;
  if (to === undefined || options !== undefined) return startOtherwise(name, attributes, options);
  const active = activeContext();
  const parent = active === undefined ? undefined : active.activeSpan;
  const span = begin(to, name, attributes, parent, true);
  if (active !== undefined) span.baggage = active.baggage;
  to.ring.readStamp();
  span.start = to.ring.stamp[0]!;
  if (to.open !== undefined && span.state === OPEN) span.slot = to.open.begin(span);
  return span;
}

/** A span with ids, a decision and attributes, and without times. */
function begin(
  to: SpanOutput,
  name: string,
  attributes: SpanAttributes | undefined,
  parent: Parent,
  trusted: boolean,
): Span {
  if (typeof name !== 'string') checkName(name);
  const span = new Span(to, OPEN, name);
  if (parent === undefined) {
    span.t0 = randomWord();
    span.t1 = randomWord();
    span.t2 = randomWord();
    span.t3 = randomWord();
    decide(span, to, SAMPLED, false);
  } else if (parent instanceof Span) {
    span.t0 = parent.t0;
    span.t1 = parent.t1;
    span.t2 = parent.t2;
    span.t3 = parent.t3;
    span.p0 = parent.s0;
    span.p1 = parent.s1;
    span.traceState = parent.traceState;
    span.flags = parent.flags & TRACE_FLAGS_MASK;
    if ((parent.flags & SAMPLED) === 0) span.state = NOT_RECORDED;
  } else {
    [span.t0, span.t1, span.t2, span.t3] = parent.parent!.trace;
    [span.p0, span.p1] = parent.parent!.span;
    span.traceState = parent.traceState;
    span.flags = PARENT_REMOTE;
    decide(span, to, parent.parent!.flags, trusted);
  }
  span.s0 = randomWord();
  span.s1 = randomWord();
  if (span.state === OPEN && attributes !== undefined) {
    if (typeof attributes !== 'object') throw wrongType('attributes', attributes, OBJECT);
    // An object without properties of its own, such as a Map, is a mistake that nobody would see.
    span.attributes = snapshot(attributes);
  }
  return span;
}

const OBJECT = 'an object of names and values';

/** Decides whether a trace is recorded that begins here, or whose caller is elsewhere. */
function decide(span: Span, to: SpanOutput, callers: number, trusted: boolean): void {
  const { sampler } = to.policy;
  const sampled =
    trusted && sampler.parentBased
      ? (callers & SAMPLED) !== 0
      : isInShare(sampler.ratio, span.t2, span.t3);
  span.flags |= (callers & RANDOM) | (sampled ? SAMPLED : 0);
  if (!sampled) span.state = NOT_RECORDED;
}

function parentOf(options: StartOptions | undefined, active: ActiveContext | undefined): Parent {
  const given: unknown = options?.parent;
  if (given === undefined) return active?.activeSpan;
  if (given === null) return undefined;
  if (given instanceof Span) return given === NOTHING ? undefined : given;
  if (given instanceof RemoteParent) return given.parent === undefined ? undefined : given;
  throw wrongType('parent', given, 'a span, what extract returns, or null');
}

/** Everything that is not usual: options, and nothing to record into. */
function startOtherwise(
  name: string,
  attributes: SpanAttributes | undefined,
  options: StartOptions | undefined,
): Span {
  if (!hasSource() && options === undefined && activeContext() === undefined) {
    if (typeof name !== 'string') checkName(name);
    return NOTHING;
  }
  return startScopedSpan(undefined, name, attributes, options);
}

/** As `startSpan`, for a library that records under its own scope. */
export function startScopedSpan(
  scope: Scope | undefined,
  name: string,
  attributes: SpanAttributes | undefined,
  options: StartOptions | undefined,
): Span {
  checkName(name);
  const to = openOutput();
  const active = activeContext();
  const parent = parentOf(options, active);
  const given = options?.parent;
  const baggage = given instanceof RemoteParent ? given.baggage : (given ?? active)?.baggage;
  const kind = KINDS.indexOf(options?.kind ?? 'internal');
  if (kind === -1) throw wrongType('kind', options?.kind, KINDS.join(', '));
  const links: unknown = options?.links;
  if (links !== undefined && !Array.isArray(links)) throw wrongType('links', links, 'a list');
  if (to === undefined) return startUnrecorded(name, parent, baggage);
  const span = begin(
    to,
    name,
    attributes ?? undefined,
    parent,
    !(given instanceof RemoteParent) || given.trusted,
  );
  span.baggage = baggage;
  span.flags |= kind << KIND_SHIFT;
  if (span.state !== OPEN) return span;
  span.start = to.timeOf(options?.startTime, 'startTime');
  if (links !== undefined && (links as unknown[]).length > 0) {
    span.extra().links = checkLinks(links as unknown[]);
  }
  if (scope !== undefined) {
    span.scope = to.scopeNumber(scope);
    if (span.scope === 0) span.extra().scope = scope;
  }
  if (to.open !== undefined) span.slot = to.open.begin(span);
  return span;
}

function checkLinks(links: readonly unknown[]): SpanLink[] {
  return links.map((link) => {
    const { to, attributes } = (link ?? {}) as Partial<SpanLink>;
    if (!(to instanceof Span) && !(to instanceof RemoteParent)) {
      throw wrongType('links', link, '{ to: a span or what extract returns, attributes? }');
    }
    return { to, ...(attributes === undefined ? {} : { attributes: snapshot(attributes) }) };
  });
}

/** Without a place for spans, what was received is passed on as it came. */
function startUnrecorded(name: string, parent: Parent, baggage: Span['baggage']): Span {
  if (parent === undefined && baggage === undefined) return NOTHING;
  const span = new Span(undefined, NOT_RECORDED, name);
  span.baggage = baggage;
  if (parent === undefined) return span;
  if (parent instanceof Span) {
    [span.t0, span.t1, span.t2, span.t3] = [parent.t0, parent.t1, parent.t2, parent.t3];
    [span.s0, span.s1] = [parent.s0, parent.s1];
    span.flags = parent.flags & TRACE_FLAGS_MASK;
  } else {
    [span.t0, span.t1, span.t2, span.t3] = parent.parent!.trace;
    [span.s0, span.s1] = parent.parent!.span;
    span.flags = parent.parent!.flags;
  }
  span.traceState = parent.traceState;
  return span;
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { then } = Promise.prototype;

/**
 * Calls `fn` with a new span that is active meanwhile, and ends the span with it: when it returns, when
 * the promise that it returns is settled, or when it throws. What it throws is recorded and thrown on.
 *
 * Only promises of the language are waited for. Other thenables, such as the queries of some libraries, are
 * returned untouched: calling their `then` would start them.
 *
 * @returns what `fn` returns, or a promise of the same.
 */
export function withSpan<Result>(
  name: string,
  attributes: SpanAttributes | undefined,
  fn: (span: Span) => Result,
  options?: StartOptions,
): Result {
  if (typeof fn !== 'function') throw wrongType('fn', fn, 'a function');
  const span = startSpan(name, attributes, options);
  if (span === NOTHING) return fn(span);
  let result: Result;
  try {
    result = runWith(span, fn, span);
  } catch (error) {
    span.fail(error);
    span.end();
    throw error;
  }
  if (span.state === OPEN && isNativePromise(result)) {
    return then.call(
      result,
      (value): unknown => {
        span.end();
        return value;
      },
      (error: unknown) => {
        span.fail(error);
        span.end();
        throw error;
      },
    ) as Result;
  }
  span.end();
  return result;
}

let isPromise: ((value: unknown) => value is Promise<unknown>) | undefined;

function isNativePromise(value: unknown): value is Promise<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  isPromise ??= process.getBuiltinModule('node:util').types.isPromise;
  return isPromise(value);
}

/** The span that is active in the calling code. */
export function activeSpan(): Span | undefined {
  const active = activeContext();
  return active === undefined ? undefined : active.activeSpan;
}

function apply<This, Arguments extends unknown[], Result>(
  fn: (this: This, ...values: Arguments) => Result,
  self: This,
  values: Arguments,
): Result {
  return fn.apply(self, values);
}

/**
 * A function that is called with what is active now, for callbacks that are called elsewhere.
 */
export function bind<This, Arguments extends unknown[], Result>(
  fn: (this: This, ...values: Arguments) => Result,
): (this: This, ...values: Arguments) => Result {
  if (typeof fn !== 'function') throw wrongType('fn', fn, 'a function');
  const context = activeContext();
  return function (this: This, ...values: Arguments): Result {
    return runWith(context, apply<This, Arguments, Result>, fn, this, values);
  };
}
