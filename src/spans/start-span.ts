import { outOfRange, wrongType } from '../core/errors.js';
import type { OptionNames } from '../core/options/argument.js';
import { takeElements } from '../core/taken-elements.js';
import { hasNames } from './attributes.js';
import type { SpanAttributes } from './attributes.js';
import { begin, earlier, start } from './begin-span.js';
import { activeContext } from './context/active-context.js';
import type { ActiveContext } from './context/active-context.js';
import { RemoteParent } from './context/remote-parent.js';
import { isUnused } from './first-use.js';
import { KIND_SHIFT, KINDS } from './layout.js';
import type { SpanKind } from './layout.js';
import { checkName, isIdle, openOutput, output } from './recording.js';
import { NO_SCOPE } from './scope.js';
import type { Scope } from './scope.js';
import { prefixOf } from './slot/prefix.js';
import { carriedBy, carriedByBatch } from './senders.js';
import { OPEN, snapshot, Span } from './span.js';
import type { SpanLink } from './span.js';
import type { Instant } from './time.js';
import { NOTHING, unrecorded, withoutTarget } from './unrecorded-span.js';
import type { Parent } from './unrecorded-span.js';

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

const OPTIONS: OptionNames<Required<StartOptions>> = {
  kind: true,
  links: true,
  parent: true,
  startTime: true,
};

/** Links that are looked at; `limits` says how many of them are recorded. */
const MAX_LINKS = 65_535;

/**
 * Starts a span. It is not active: {@link withSpan} and `span.run` make it so.
 *
 * @param name what is done, with few different values: `GET /users/:id`.
 * @throws TracewrightError for an argument of the wrong type, and for an unknown option.
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
  return start(to, span, prefixOf(name, NO_SCOPE, 0), attributes ?? undefined, '', active);
}

function checkAttributes(given: unknown): void {
  if (given === null || hasNames(given)) return;
  throw wrongType('attributes', given, 'an object of names and values');
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
  checkNames(options);
  return startScopedSpan(undefined, name, attributes, options);
}

/** An option that is not known would be ignored without a word. */
function checkNames(options: unknown): void {
  if (typeof options !== 'object' || options === null) return;
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue;
    throw outOfRange('option', name, `one of ${Object.keys(OPTIONS).join(', ')}`);
  }
}

/**
 * As `startSpan`, for a library that records under its own scope.
 *
 * @param tookNs nanoseconds since it began, if that was before; Infinity: with its parent.
 */
export function startScopedSpan(
  scope: Scope | undefined,
  name: string,
  attributes: SpanAttributes | undefined,
  options: StartOptions | undefined,
  tookNs = 0,
): Span {
  checkName(name);
  const to = output ?? openOutput();
  const active = activeContext();
  const parent = parentOf(options, active);
  const given = options?.parent;
  let carried =
    given instanceof RemoteParent ? carriedBy(given, active?.carried) : (given ?? active)?.carried;
  const kind = KINDS.indexOf(options?.kind ?? 'internal');
  if (kind === -1) throw wrongType('kind', options?.kind, KINDS.join(', '));
  const givenLinks = options?.links as unknown;
  const links =
    givenLinks === undefined
      ? []
      : checkLinks(takeElements('links', givenLinks, MAX_LINKS, 'a list'));
  if (parent === undefined && links.length > 0) carried = carriedByBatch(links, carried);
  if (to === undefined) return withoutTarget(name, parent, carried);
  if (carried?.suppressesTracing === true) return unrecorded('', undefined, carried);
  const trusted = !(given instanceof RemoteParent) || given.trusted;
  const span = begin(to, name, parent, carried, trusted, kind << KIND_SHIFT);
  if (span.state !== OPEN) return span;
  if (attributes !== undefined) checkAttributes(attributes);
  const startTime = options?.startTime;
  const time =
    startTime === undefined ? earlier(to, tookNs, parent) : to.timeOf(startTime, 'startTime');
  if (links.length > 0) span.extra().links = links;
  const prefix = prefixOf(name, scope ?? NO_SCOPE, kind << KIND_SHIFT);
  return start(to, span, prefix, attributes ?? undefined, '', active, time);
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
