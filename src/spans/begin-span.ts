import { NO_BAGGAGE } from './context/baggage.js';
import { CarriedBaggage } from './context/carried.js';
import type { Carried } from './context/carried.js';
import type { ActiveContext } from './context/active-context.js';
import { pool, refill } from './context/ids.js';
import type { RemoteParent } from './context/remote-parent.js';
import type { SpanAttributes } from './attributes.js';
import { PARENT_REMOTE, TRACE_FLAGS_MASK } from './layout.js';
import { observer } from './observer.js';
import { checkName } from './recording.js';
import { NOT_SAMPLED, saysWhetherSampled, withDecision } from './context/trace-state-entries.js';
import { isInShare } from './sampling.js';
import type { Scope } from './scope.js';
import { NOT_RECORDED, REMOTE, snapshot, Span } from './span.js';
import type { SpanOutput } from './write/span-output.js';

/** What a span can be below. */
export type Parent = Span | RemoteParent | undefined;

/** Of the flags of a trace: it is recorded. */
export const SAMPLED = 1;
const RANDOM = 2;

/** What is returned while nothing is recorded and nothing is active. */
export const NOTHING = unrecorded('', undefined, undefined);

/** Words of the pool that are used up. */
let used = pool.length;
/** Words of an id of a span, then of a trace. */
const ID_WORDS = 6;
const SPAN_ID_WORDS = 2;

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
    const t0 = pool[at + 2]!;
    const t1 = pool[at + 3]!;
    const { sampler } = to.policy;
    const sampled = isInShare(sampler, t0, t1, t2, t3, '') ? SAMPLED : 0;
    const state = sampled === 0 ? '' : sampler.recorded;
    const flags = sampled | RANDOM | kind;
    return new Span(to, sampled, name, t0, t1, t2, t3, s0, s1, 0, 0, flags, state, carried);
  }
  if (parent instanceof Span) {
    const { t0, t1, t2, t3 } = parent;
    let { traceState } = parent;
    let callers = parent.flags & TRACE_FLAGS_MASK;
    if (parent.state === REMOTE && !holds(to, callers, traceState, trusted)) {
      const sampled = decide(to, t0, t1, t2, t3, traceState);
      traceState = stateAfter(to, sampled, traceState);
      callers = sampled | (callers & RANDOM);
    }
    if (parent.state === REMOTE) callers |= PARENT_REMOTE;
    const state = callers & SAMPLED;
    const { s0: p0, s1: p1 } = parent;
    const flags = callers | kind;
    return new Span(to, state, name, t0, t1, t2, t3, s0, s1, p0, p1, flags, traceState, carried);
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

/** A place for a span that has its start, and its first attributes: as they are now, whatever the program does. */
export function keep(
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

/**
 * Whether a caller's decision holds. One not to record comes from every tracer that records nothing itself. So it must
 * say that it is about the trace.
 */
function holds(
  { policy: { sampler } }: SpanOutput,
  callers: number,
  traceState: string,
  trusted: boolean,
): boolean {
  if (!trusted || !sampler.parentBased) return false;
  return (callers & SAMPLED) !== 0 || (traceState !== '' && saysWhetherSampled(traceState));
}

/** Whether a trace of a caller is recorded whose decision does not hold: 1 or 0. */
function decide(
  { policy: { sampler } }: SpanOutput,
  t0: number,
  t1: number,
  t2: number,
  t3: number,
  traceState: string,
): number {
  return isInShare(sampler, t0, t1, t2, t3, traceState) ? SAMPLED : 0;
}

function stateAfter({ policy }: SpanOutput, sampled: number, traceState: string): string {
  return withDecision(traceState, sampled === 0 ? NOT_SAMPLED : policy.sampler.recorded);
}

/** What is carried below a caller: its baggage, and what else is active here. */
export function carriedBy(
  { baggage }: RemoteParent,
  active: Carried | undefined,
): Carried | undefined {
  if (active !== undefined) return active.withBaggage(baggage ?? NO_BAGGAGE);
  return baggage === undefined ? undefined : new CarriedBaggage(baggage);
}

/** Says which library records the span. */
export function giveScope(to: SpanOutput, span: Span, scope: Scope): void {
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

/** Without a place for spans, what was received is passed on as it came. */
export function unrecorded(name: string, parent: Parent, carried: Carried | undefined): Span {
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
