import type { SpanAttributes, SpanValue } from './attributes.js';
import type { ActiveContext } from './context/active-context.js';
import type { Carried } from './context/carried.js';
import { pool, POOL_WORDS, refill } from './context/ids.js';
import type { RemoteParent } from './context/remote-parent.js';
import { NOT_SAMPLED, saysWhetherSampled, withDecision } from './context/trace-state-entries.js';
import {
  KIND_BITS,
  KIND_SHIFT,
  NESTED_SERVER,
  PARENT_REMOTE,
  SERVER_BITS,
  TRACE_FLAGS_MASK,
} from './layout.js';
import { observer } from './observer.js';
import type { SpanObserver } from './observer.js';
import { checkName, isIdle, openOutput, output, warnWithoutTarget } from './recording.js';
import { isInShare } from './sampling.js';
import { NO_SCOPE } from './scope.js';
import { carriedBelow, carriedBy, carriedByBatch } from './senders.js';
import { BELOW, ENDED, NOT_RECORDED, OPEN, REMOTE, SHOWN, Span } from './span.js';
import type { SpanLink } from './span.js';
import type { Prefix } from './slot/prefix.js';
import type { Instant, TraceTime } from './time.js';
import { NOTHING, unrecorded, withoutTarget } from './unrecorded-span.js';
import type { Parent } from './unrecorded-span.js';
import type { SpanOutput } from './write/span-output.js';

/** Of the flags of a trace: it is recorded. */
export const SAMPLED = 1;
const RANDOM = 2;

const NESTED_BITS = NESTED_SERVER << KIND_SHIFT;

/** Words of the pool that are used up. */
let used = POOL_WORDS;
/** Words of an id of a span, then of a trace. */
const ID_WORDS = 6;
const SPAN_ID_WORDS = 2;

/** Where the next ids are in the pool. */
function nextIds(words: number): number {
  if (used > POOL_WORDS - ID_WORDS) {
    refill();
    used = 0;
  }
  const at = used & (POOL_WORDS - 1);
  used = at + words;
  return at;
}

/** As `begin`, of a span that begins a trace. */
function beginTrace(
  to: SpanOutput,
  name: string,
  carried: Carried | undefined,
  kind: number,
): Span {
  const at = nextIds(ID_WORDS);
  const s0 = pool[at]!;
  const s1 = pool[at + 1]!;
  const t0 = pool[at + 2]!;
  const t1 = pool[at + 3]!;
  const t2 = pool[at + 4]!;
  const t3 = pool[at + 5]!;
  const { sampler } = to;
  const isSampled = sampler.recordsAll === true || isInShare(sampler, t0, t1, t2, t3, '');
  const sampled = isSampled ? SAMPLED : 0;
  const state = sampled === 0 ? '' : sampler.recorded;
  const flags = sampled | RANDOM | kind;
  return new Span(to, sampled, name, t0, t1, t2, t3, s0, s1, 0, 0, flags, state, carried);
}

/** A span with ids and a decision, without times and attributes. */
export function begin(
  to: SpanOutput,
  name: string,
  parent: Parent,
  carried: Carried | undefined,
  trusted: boolean,
  kind: number,
): Span {
  if (typeof name !== 'string') checkName(name);
  if (carried !== undefined && carried.links !== undefined) {
    const { all, below } = carried.links;
    const span = begin(to, name, parent, below, trusted, kind);
    if (span.state === OPEN) span.extra().links = [...(all as readonly SpanLink[])];
    return span;
  }
  if (parent === undefined) return beginTrace(to, name, carried, kind);
  const at = nextIds(SPAN_ID_WORDS);
  const s0 = pool[at]!;
  const s1 = pool[at + 1]!;
  if (parent instanceof Span) {
    const { t0, t1, t2, t3 } = parent;
    let { traceState } = parent;
    let callers = parent.flags & TRACE_FLAGS_MASK;
    let below = carried;
    let root: Span | undefined = parent.root;
    if (parent.state === REMOTE) {
      below = carriedBelow(parent, carried);
      if (root === parent) {
        if (!holds(to, callers, traceState, trusted)) {
          const sampled = decide(to, t0, t1, t2, t3, traceState);
          traceState = stateAfter(to, sampled, traceState);
          callers = sampled | (callers & RANDOM);
        }
        callers |= PARENT_REMOTE;
        root = undefined;
      }
    }
    const state = callers & SAMPLED;
    const { s0: p0, s1: p1 } = parent;
    parent.flags |= SHOWN;
    const above = parent.state === REMOTE ? root : parent;
    const isBelow = above !== undefined && above.output === to && above.state !== NOT_RECORDED;
    const isNested = kind === SERVER_BITS && isBelow && (root!.flags & KIND_BITS) === SERVER_BITS;
    const flags = callers | (isNested ? NESTED_BITS : kind) | (isBelow ? BELOW : 0);
    return new Span(
      to,
      state,
      name,
      t0,
      t1,
      t2,
      t3,
      s0,
      s1,
      p0,
      p1,
      flags,
      traceState,
      below,
      root,
    );
  }
  const [t0, t1, t2, t3] = parent.parent!.trace;
  const [p0, p1] = parent.parent!.span;
  const callers = parent.parent!.flags;
  let { traceState } = parent;
  let sampled = callers & SAMPLED;
  if (!holds(to, callers, traceState, trusted)) {
    sampled = decide(to, t0, t1, t2, t3, traceState);
    traceState = stateAfter(to, sampled, traceState);
  }
  const flags = sampled | (callers & RANDOM) | PARENT_REMOTE | kind;
  return new Span(to, sampled, name, t0, t1, t2, t3, s0, s1, p0, p1, flags, traceState, carried);
}

/**
 * Starts a span that has ids: every span is started here.
 *
 * @param given its attributes in addition to those of the prefix, as they are now.
 * @param text with which the prefix ends.
 * @param active what it is below.
 * @param time nanoseconds since the trace's epoch; undefined: now.
 */
export function start(
  to: SpanOutput,
  span: Span,
  prefix: Prefix,
  given: SpanAttributes | undefined,
  text: string,
  active: ActiveContext | undefined,
  time?: TraceTime,
): Span {
  if (observer === undefined) to.start(span, prefix, given, text, time);
  else startObserved(observer, to, span, prefix, given, text, active, time);
  return span;
}

function startObserved(
  by: SpanObserver,
  to: SpanOutput,
  span: Span,
  prefix: Prefix,
  given: SpanAttributes | undefined,
  text: string,
  active: ActiveContext | undefined,
  time: TraceTime | undefined,
): void {
  // Who sees the span wants an object.
  span.own ??= prefix.attributesOf(given, text) ?? {};
  to.start(span, prefix, given === undefined ? undefined : span.own, text, time);
  if (span.state !== OPEN) return;
  by.started(span, active, prefix.scope === NO_SCOPE ? undefined : prefix.scope);
}

/** The start of a span that began so many nanoseconds ago, but not before its parent; undefined: now. */
export function earlier(to: SpanOutput, tookNs: number, parent: Parent): number | undefined {
  if (tookNs <= 0) return undefined;
  const time = to.timeOf(undefined) - tookNs;
  // The clock may be coarse.
  const isOpenHere = parent instanceof Span && parent.recording && parent.output === to;
  return isOpenHere ? Math.max(time, parent.start) : time;
}

/**
 * Whether a caller's decision holds. One not to record comes from every tracer that records nothing itself. So it must
 * say that it is about the trace.
 */
function holds(
  { sampler }: SpanOutput,
  callers: number,
  traceState: string,
  trusted: boolean,
): boolean {
  if (!trusted || !sampler.parentBased) return false;
  return (callers & SAMPLED) !== 0 || (traceState !== '' && saysWhetherSampled(traceState));
}

/** Whether a trace of a caller is recorded whose decision does not hold: 1 or 0. */
function decide(
  { sampler }: SpanOutput,
  t0: number,
  t1: number,
  t2: number,
  t3: number,
  traceState: string,
): number {
  return isInShare(sampler, t0, t1, t2, t3, traceState) ? SAMPLED : 0;
}

function stateAfter({ sampler }: SpanOutput, sampled: number, traceState: string): string {
  return withDecision(traceState, sampled === 0 ? NOT_SAMPLED : sampler.recorded);
}

/** Details of a span that a caller with a context of its own may give. */
interface SpanDetails {
  /** Whether a new trace begins. */
  root: boolean;
  startTime: Instant | undefined;
  links: readonly SpanLink[];
  /** Decides about a span that has its ids, name and attributes; it may change the latter. */
  decide: ((span: Span) => Decision) | undefined;
}

/** Whether a span is recorded: no, recorded, or recorded with the flag that says so to others. */
export type Decision = 0 | 1 | 2;

/**
 * Starts a span below what is active in a context, for callers that know the context.
 *
 * @param given attributes in addition to those of the prefix.
 * @param text with which the prefix ends, if it ends with one.
 * @param tookNs nanoseconds since it began, if that was before; Infinity: with its parent.
 */
export function startIn(
  context: ActiveContext | undefined,
  prefix: Prefix,
  given?: SpanAttributes,
  text = '',
  tookNs = 0,
): Span {
  const to = output;
  if (to === undefined) {
    return startInWith(context, prefix, prefix.attributesOf(given, text), NO_DETAILS);
  }
  const carried = context?.carried;
  if (carried?.suppressesTracing === true) return unrecorded('', undefined, carried);
  const parent = context?.activeSpan;
  const span = begin(to, prefix.name, parent, carried, true, prefix.kind);
  if (span.state !== OPEN) return span;
  const time = tookNs === 0 ? undefined : earlier(to, tookNs, parent);
  return start(to, span, prefix, given, text, context, time);
}

const NO_DETAILS: SpanDetails = { root: false, startTime: undefined, links: [], decide: undefined };

/**
 * As `startIn`, of a span about which there is more to say.
 *
 * @param attributes become the span's own.
 */
export function startInWith(
  context: ActiveContext | undefined,
  prefix: Prefix,
  attributes: Record<string, SpanValue> | undefined,
  { root, startTime, links, decide: decideOn }: SpanDetails,
): Span {
  const to = openOutput();
  const parent = root ? undefined : context?.activeSpan;
  const carried =
    parent === undefined && links.length > 0
      ? carriedByBatch(links, context?.carried)
      : context?.carried;
  if (to === undefined) {
    if (isIdle) warnWithoutTarget();
    return withoutTarget(prefix.name, parent, carried);
  }
  if (carried?.suppressesTracing === true) return unrecorded('', undefined, carried);
  const span = begin(to, prefix.name, parent, carried, true, prefix.kind);
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
  const time = startTime === undefined ? undefined : to.timeOf(startTime, 'startTime');
  if (links.length > 0) span.extra().links = links;
  return start(to, span, prefix, span.own, '', context, time);
}

/**
 * Starts the span of a request, for the hook. Requests that are not sampled are not recorded, but while they are
 * open they have slots too: a process that dies leaves all of them.
 *
 * @param given attributes in addition to those of the prefix. Those that are undefined are yet to come.
 * @param text with which the prefix ends, if it ends with one.
 * @param trusted whether a caller's decision holds.
 */
export function startRequest(
  prefix: Prefix,
  given: SpanAttributes | undefined,
  text: string,
  parent: RemoteParent | undefined,
  trusted: boolean,
): Span {
  const to = output ?? openOutput();
  if (to === undefined) {
    if (parent === undefined) return NOTHING;
    return withoutTarget(prefix.name, aboveOf(parent), carriedBy(parent, undefined));
  }
  const span = beginRequest(to, prefix, parent, trusted);
  return start(to, span, prefix, given, text, undefined);
}

/** The parent of a request's span; undefined: its caller has sent baggage alone. */
function aboveOf(parent: RemoteParent): RemoteParent | undefined {
  return parent.parent === undefined ? undefined : parent;
}

function beginRequest(
  to: SpanOutput,
  { kind, name }: Prefix,
  parent: RemoteParent | undefined,
  trusted: boolean,
): Span {
  if (parent === undefined) return beginTrace(to, name, undefined, kind);
  return begin(to, name, aboveOf(parent), carriedBy(parent, undefined), trusted, kind);
}

/** Ends what `startRequest` has started. */
export function endRequest(span: Span): void {
  if (span.state === OPEN) {
    span.end();
  } else if (span.slot !== -1) {
    span.output!.release(span);
  }
}

/** Ends the hook's own calls below a request that is never answered: its handlers may wait for ever. */
export function endWaiting(request: Span): void {
  let call = request.waiting;
  request.waiting = undefined;
  for (; call !== undefined; call = call.earlier) {
    const { span } = call;
    call.span = undefined;
    span?.end();
  }
}

/** Lets go of a span that is not worth a record after all. It must have no children. */
export function discard(span: Span): void {
  if (span.state !== OPEN) return;
  span.state = ENDED;
  span.output!.discard(span);
}
