import { begin, carriedBy, giveScope, NOTHING, unrecorded } from './begin-span.js';
import type { SpanValue } from './attributes.js';
import type { RemoteParent } from './context/remote-parent.js';
import { observer } from './observer.js';
import { openOutput, output } from './recording.js';
import type { Scope } from './scope.js';
import { ENDED, OPEN, Span } from './span.js';
import type { SpanEnding } from './write/span-ending.js';
import type { SpanTemplate } from './write/span-template.js';

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
  if (span.slot >= 0) span.output!.keepAnew(span);
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
  span.output!.discard(span);
}
