import { begin, giveScope, keep, NOTHING, SAMPLED, unrecorded } from './begin-span.js';
import type { Parent } from './begin-span.js';
import type { SpanAttributes, SpanValue } from './attributes.js';
import type { ActiveContext } from './context/active-context.js';
import type { Carried } from './context/carried.js';
import { KIND_SHIFT } from './layout.js';
import { isIdle, openOutput, output, warnWithoutTarget } from './recording.js';
import type { Scope } from './scope.js';
import { NOT_RECORDED, OPEN, snapshot } from './span.js';
import type { Span, SpanLink } from './span.js';
import type { Instant } from './time.js';

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
 * Starts a span below what is active in a context, for callers that know the context.
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
    if (isIdle) warnWithoutTarget();
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
  span.startAt(to.timeOf(startTime, 'startTime'));
  if (links.length > 0) span.extra().links = links;
  giveScope(to, span, scope);
  keep(to, span, undefined, context, scope);
  return span;
}
