import { wrongType } from '../core/errors.js';
import { takeElements } from '../core/taken-elements.js';
import { hasNames } from './attributes.js';
import type { SpanAttributes, SpanValue } from './attributes.js';
import { activeContext } from './context/active-context.js';
import type { ActiveContext } from './context/active-context.js';
import { runWith, runWithOne } from './context/context-storage.js';
import { NO_BAGGAGE } from './context/baggage.js';
import { CarriedBaggage } from './context/carried.js';
import type { Carried } from './context/carried.js';
import { pool, refill } from './context/ids.js';
import { RemoteParent } from './context/remote-parent.js';
import { isUnused } from './first-use.js';
import { KIND_SHIFT, KINDS, PARENT_REMOTE, TRACE_FLAGS_MASK } from './layout.js';
import type { SpanKind } from './layout.js';
import { observer } from './observer.js';
import { checkName, isIdle, openOutput, output } from './recording.js';
import { isInShare } from './sampling.js';
import type { Scope } from './scope.js';
import { ENDED, NOT_RECORDED, OPEN, REMOTE, snapshot, Span } from './span.js';
import type { SpanLink } from './span.js';
import type { Instant } from './time.js';
import type { SpanEnding } from './write/span-ending.js';
import type { SpanOutput } from './write/span-output.js';
import type { SpanTemplate } from './write/span-template.js';

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

/** Links that are looked at; `limits` says how many of them are recorded. */
const MAX_LINKS = 65_535;
const SAMPLED = 1;
const RANDOM = 2;

/** What is returned while nothing is recorded and nothing is active. */
const NOTHING = unrecorded('', undefined, undefined);

type Parent = Span | RemoteParent | undefined;

/**
 * Starts a span. It is not active: {@link withSpan} and `span.run` make it so.
 *
 * @param name what is done, with few different values: `GET /users/:id`.
 * @throws TracewrightError for an argument of the wrong type.
 */
export function startSpan(name: string, attributes?: SpanAttributes, options?: StartOptions): Span {
  if (isUnused !== undefined && options === undefined) {
    if (typeof name !== 'string') checkName(name);
    return NOTHING;
  }
  const to = output;
  if (to === undefined || options !== undefined) {
    if (isIdle && options === undefined && activeContext() === undefined) {
      if (typeof name !== 'string') checkName(name);
      return NOTHING;
    }
    return startOtherwise(name, attributes, options);
  }
  const active = activeContext();
  const parent = active === undefined ? undefined : active.activeSpan;
  const carried = active === undefined ? undefined : active.carried;
  const span =
    carried?.suppressesTracing === true
      ? unrecorded('', undefined, carried)
      : begin(to, name, parent, carried, true, 0);
  if (span.state !== OPEN) return span;
  if (attributes !== undefined) checkAttributes(attributes);
  to.ring.readStamp();
  span.start = to.ring.stamp[0]!;
  keep(to, span, attributes, active, undefined);
  return span;
}

/** Words of the pool that are used up. */
let used = pool.length;
/** Words of an id of a span, then of a trace. */
const ID_WORDS = 6;
const SPAN_ID_WORDS = 2;

/** A span with ids and a decision, without times and attributes. */
function begin(
  to: SpanOutput,
  name: string,
  parent: Parent,
  carried: Carried | undefined,
  trusted: boolean,
  kind: number,
): Span {
  if (typeof name !== 'string') checkName(name);
  if (used > pool.length - ID_WORDS) {
    refill();
    used = 0;
  }
  const at = used;
  used = at + (parent === undefined ? ID_WORDS : SPAN_ID_WORDS);
  const s0 = pool[at]!;
  const s1 = pool[at + 1]!;
  if (parent === undefined) {
    const t2 = pool[at + 4]!;
    const t3 = pool[at + 5]!;
    const sampled = decide(to, t2, t3, SAMPLED, false);
    const t0 = pool[at + 2]!;
    const t1 = pool[at + 3]!;
    return new Span(to, sampled, name, t0, t1, t2, t3, s0, s1, 0, 0, sampled | kind, '', carried);
  }
  if (parent instanceof Span) {
    const { t0, t1, t2, t3, traceState } = parent;
    let callers = parent.flags & TRACE_FLAGS_MASK;
    if (parent.state === REMOTE) {
      callers = decide(to, t2, t3, callers, trusted) | (callers & RANDOM) | PARENT_REMOTE;
    }
    const state = callers & SAMPLED;
    const { s0: p0, s1: p1 } = parent;
    const flags = callers | kind;
    return new Span(to, state, name, t0, t1, t2, t3, s0, s1, p0, p1, flags, traceState, carried);
  }
  const [t0, t1, t2, t3] = parent.parent!.trace;
  const [p0, p1] = parent.parent!.span;
  const callers = parent.parent!.flags;
  const sampled = decide(to, t2, t3, callers, trusted);
  const flags = sampled | (callers & RANDOM) | PARENT_REMOTE | kind;
  const { traceState } = parent;
  return new Span(to, sampled, name, t0, t1, t2, t3, s0, s1, p0, p1, flags, traceState, carried);
}

function checkAttributes(given: unknown): void {
  if (given === null || hasNames(given)) return;
  throw wrongType('attributes', given, 'an object of names and values');
}

/** A place for a span that has its start, and its first attributes: as they are now, whatever the program does. */
function keep(
  to: SpanOutput,
  span: Span,
  attributes: SpanAttributes | null | undefined,
  active: ActiveContext | undefined,
  scope: Scope | undefined,
): void {
  let given = attributes ?? undefined;
  if (given !== undefined && (observer !== undefined || to.open === undefined)) {
    span.own = snapshot(given);
    given = undefined;
  }
  if (observer !== undefined) observer.started(span, active, scope);
  if (to.open !== undefined) span.slot = to.open.begin(span, given);
}

/** Whether a trace is recorded that begins here, or whose caller is elsewhere: 1 or 0. */
function decide(
  { policy: { sampler } }: SpanOutput,
  t2: number,
  t3: number,
  callers: number,
  trusted: boolean,
): number {
  if (trusted && sampler.parentBased) return callers & SAMPLED;
  return sampler.ratio >= 1 || isInShare(sampler.ratio, t2, t3) ? SAMPLED : 0;
}

/** What is carried below a caller: its baggage, and what else is active here. */
function carriedBy({ baggage }: RemoteParent, active: Carried | undefined): Carried | undefined {
  if (active !== undefined) return active.withBaggage(baggage ?? NO_BAGGAGE);
  return baggage === undefined ? undefined : new CarriedBaggage(baggage);
}

function parentOf(options: StartOptions | undefined, active: ActiveContext | undefined): Parent {
  const given: unknown = options?.parent;
  if (given === undefined) return active?.activeSpan;
  if (given === null) return undefined;
  // One without ids carries something at most.
  if (given instanceof Span) return given.activeSpan;
  if (given instanceof RemoteParent) return given.parent === undefined ? undefined : given;
  throw wrongType('parent', given, 'a span, what extract returns, or null');
}

/** Everything that is not usual: options, and nothing to record into. */
function startOtherwise(
  name: string,
  attributes: SpanAttributes | undefined,
  options: StartOptions | undefined,
): Span {
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
  const carried =
    given instanceof RemoteParent ? carriedBy(given, active?.carried) : (given ?? active)?.carried;
  const kind = KINDS.indexOf(options?.kind ?? 'internal');
  if (kind === -1) throw wrongType('kind', options?.kind, KINDS.join(', '));
  const givenLinks = options?.links as unknown;
  const links =
    givenLinks === undefined
      ? []
      : checkLinks(takeElements('links', givenLinks, MAX_LINKS, 'a list'));
  if (to === undefined) {
    return parent === undefined && carried === undefined
      ? NOTHING
      : unrecorded(name, parent, carried);
  }
  if (carried?.suppressesTracing === true) return unrecorded('', undefined, carried);
  const trusted = !(given instanceof RemoteParent) || given.trusted;
  const span = begin(to, name, parent, carried, trusted, kind << KIND_SHIFT);
  if (span.state !== OPEN) return span;
  if (attributes !== undefined) checkAttributes(attributes);
  span.start = to.timeOf(options?.startTime, 'startTime');
  if (links.length > 0) span.extra().links = links;
  if (scope !== undefined) giveScope(to, span, scope);
  keep(to, span, attributes, active, scope);
  return span;
}

/** What a caller that has a context of its own may say of a span. */
export interface SpanDetails {
  /** Whether a new trace begins. */
  root: boolean;
  startTime: Instant | undefined;
  links: readonly SpanLink[];
  /** Decides about a span that has its ids, name and attributes; it may change the latter. */
  decide: ((span: Span) => Decision) | undefined;
}

/** What becomes of a span: not recorded, recorded, or recorded with the flag that says so to others. */
export type Decision = 0 | 1 | 2;

/**
 * Starts a span below what is active in a context, for APIs that have contexts of their own.
 *
 * @param name a string.
 * @param kind its number in the layout.
 */
export function startIn(
  context: ActiveContext | undefined,
  scope: Scope,
  name: string,
  kind: number,
  attributes: SpanAttributes | undefined,
): Span {
  const to = output;
  if (to === undefined) {
    const own = attributes === undefined ? undefined : snapshot(attributes);
    return startInWith(context, scope, name, kind, own, NO_DETAILS);
  }
  let parent: Parent;
  let carried: Carried | undefined;
  if (context !== undefined) {
    parent = context.activeSpan;
    carried = context.carried;
    if (carried?.suppressesTracing === true) return unrecorded('', undefined, carried);
  }
  const span = begin(to, name, parent, carried, true, kind << KIND_SHIFT);
  if (span.state !== OPEN) return span;
  if (scope.output === to) span.scope = scope.number;
  else giveScope(to, span, scope);
  to.ring.readStamp();
  span.start = to.ring.stamp[0]!;
  keep(to, span, attributes, context, scope);
  return span;
}

const NO_DETAILS: SpanDetails = { root: false, startTime: undefined, links: [], decide: undefined };

/**
 * As `startIn`, of a span about which there is more to say.
 *
 * @param attributes become the span's own.
 */
export function startInWith(
  context: ActiveContext | undefined,
  scope: Scope,
  name: string,
  kind: number,
  attributes: Record<string, SpanValue> | undefined,
  { root, startTime, links, decide: decideOn }: SpanDetails,
): Span {
  const to = openOutput();
  const carried = context?.carried;
  const parent = root ? undefined : context?.activeSpan;
  if (to === undefined) {
    return parent === undefined && carried === undefined
      ? NOTHING
      : unrecorded(name, parent, carried);
  }
  if (carried?.suppressesTracing === true) return unrecorded('', undefined, carried);
  const span = begin(to, name, parent, carried, true, kind << KIND_SHIFT);
  span.attributes = attributes;
  if (decideOn !== undefined) {
    const decision = decideOn(span);
    span.state = decision === 0 ? NOT_RECORDED : OPEN;
    span.flags = (span.flags & ~SAMPLED) | (decision === 2 ? SAMPLED : 0);
  }
  if (span.state !== OPEN) {
    span.attributes = undefined;
    return span;
  }
  span.start = to.timeOf(startTime, 'startTime');
  if (links.length > 0) span.extra().links = links;
  giveScope(to, span, scope);
  if (observer !== undefined) observer.started(span, context, scope);
  if (to.open !== undefined) span.slot = to.open.begin(span, undefined);
  return span;
}

function giveScope(to: SpanOutput, span: Span, scope: Scope): void {
  span.scope = to.scopeNumber(scope);
  if (span.scope === 0) span.extra().scope = scope;
}

/**
 * A span with the ids of another, which is recorded elsewhere or not at all: as parent, in a link, or to be active.
 *
 * @param trace four words, and `id` two.
 * @param isRemote whether it is of another process.
 */
export function standIn(
  trace: readonly [number, number, number, number],
  id: readonly [number, number],
  traceFlags: number,
  isRemote: boolean,
  traceState: string,
  carried: Carried | undefined,
): Span {
  const state = isRemote ? REMOTE : NOT_RECORDED;
  const [t0, t1, t2, t3] = trace;
  const [s0, s1] = id;
  const flags = traceFlags & TRACE_FLAGS_MASK;
  return new Span(undefined, state, '', t0, t1, t2, t3, s0, s1, 0, 0, flags, traceState, carried);
}

/**
 * Starts the span of a request, for the hook. Requests that are not sampled are not recorded, but while they are
 * open they are kept too: a process that dies leaves all of them.
 *
 * @param attributes become the span's own. Those that are undefined are yet to come.
 * @param kind in the bits of the flags.
 * @param trusted whether a caller's decision holds.
 */
export function startRequest(
  scope: Scope,
  name: string,
  attributes: Record<string, SpanValue>,
  kind: number,
  parent: RemoteParent | undefined,
  trusted: boolean,
): Span {
  const to = output ?? openOutput();
  const carried = parent === undefined ? undefined : carriedBy(parent, undefined);
  const above = parent?.parent === undefined ? undefined : parent;
  if (to === undefined) {
    return above === undefined && carried === undefined
      ? NOTHING
      : unrecorded(name, above, carried);
  }
  const span = begin(to, name, above, carried, trusted, kind);
  span.attributes = attributes;
  to.ring.readStamp();
  span.start = to.ring.stamp[0]!;
  giveScope(to, span, scope);
  if (observer !== undefined && span.state === OPEN) {
    observer.started(span, above instanceof Span ? above : undefined, scope);
  }
  if (to.open !== undefined) span.slot = to.open.begin(span, undefined);
  return span;
}

/** As `startRequest`, of a template. */
export function startRequestFrom(
  template: SpanTemplate,
  text: string,
  parent: RemoteParent | undefined,
  trusted: boolean,
): Span {
  const { name, kind, scope } = template;
  const to = output;
  if (to === undefined || observer !== undefined) {
    return startRequest(scope, name, template.attributesOf(text), kind, parent, trusted);
  }
  const above = parent?.parent === undefined ? undefined : parent;
  const carried = parent === undefined ? undefined : carriedBy(parent, undefined);
  const span = begin(to, name, above, carried, trusted, kind);
  to.ring.readStamp();
  span.start = to.ring.stamp[0]!;
  giveScope(to, span, scope);
  if (to.open !== undefined) span.slot = to.open.beginFrom(span, template, text);
  if (span.heldNames === undefined) span.own ??= template.attributesOf(text);
  return span;
}

/**
 * Ends the span of a request with further attributes, if nothing else of it has changed since it began; false: it
 * is as it was.
 *
 * @param isNamed whether the name of the span gets a space and the text at its end.
 */
export function endRequestWith(
  span: Span,
  ending: SpanEnding,
  number: number,
  text: string,
  isNamed: boolean,
): boolean {
  const to = output;
  if (span.heldBytes === 0 || span.state !== OPEN || to === undefined || span.output !== to)
    return false;
  if (observer !== undefined) return false;
  if (!to.recordWith(span, ending, number, text, isNamed)) return false;
  span.state = ENDED;
  return true;
}

/** A span that was started by `startRequest` has changed: its place gets it as it is now. */
export function keepAnew(span: Span): void {
  if (span.slot !== -1) span.output!.keepAnew(span);
}

/** As `keepAnew`, of a span that gets a name and one more text. False: only `keepAnew` can do it. */
export function keepWith(span: Span, name: string, attribute: string, text: string): boolean {
  return span.heldNames !== undefined && span.output!.keepWith(span, name, attribute, text);
}

/** Ends what `startRequest` has started. */
export function endRequest(span: Span): void {
  if (span.state === OPEN) {
    span.end();
  } else if (span.slot !== -1) {
    span.output!.release(span);
  }
}

/** Lets go of a span that is not worth a record after all. It must have no children. */
export function discard(span: Span): void {
  if (span.state !== OPEN) return;
  span.state = ENDED;
  if (span.slot !== -1) span.output!.release(span);
}

function checkLinks(links: readonly unknown[]): SpanLink[] {
  return links.map((link) => {
    const { to, attributes } = (link ?? {}) as Partial<SpanLink>;
    if (!(to instanceof Span) && !(to instanceof RemoteParent)) {
      throw wrongType('links', link, '{ to: a span or what extract returns, attributes? }');
    }
    if (attributes === undefined) return { to };
    if (!hasNames(attributes)) throw wrongType('links', link, 'attributes: names and values');
    return { to, attributes: snapshot(attributes) };
  });
}

/** Without a place for spans, what was received is passed on as it came. */
function unrecorded(name: string, parent: Parent, carried: Carried | undefined): Span {
  if (parent === undefined) {
    return new Span(undefined, NOT_RECORDED, name, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', carried);
  }
  const isLocal = parent instanceof Span;
  const [t0, t1, t2, t3] = isLocal
    ? [parent.t0, parent.t1, parent.t2, parent.t3]
    : parent.parent!.trace;
  const [s0, s1] = isLocal ? [parent.s0, parent.s1] : parent.parent!.span;
  const flags = isLocal ? parent.flags & TRACE_FLAGS_MASK : parent.parent!.flags;
  const state = parent.traceState;
  return new Span(
    undefined,
    NOT_RECORDED,
    name,
    t0,
    t1,
    t2,
    t3,
    s0,
    s1,
    0,
    0,
    flags,
    state,
    carried,
  );
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
    result = runWithOne(span, fn, span);
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
