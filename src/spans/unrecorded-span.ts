import type { Carried } from './context/carried.js';
import type { RemoteParent } from './context/remote-parent.js';
import { TRACE_FLAGS_MASK } from './layout.js';
import { NOT_RECORDED, REMOTE, Span } from './span.js';

/** A parent of a span. */
export type Parent = Span | RemoteParent | undefined;

/** The words of a trace's id and of a span's. */
type TraceWords = readonly [number, number, number, number];
type SpanWords = readonly [number, number];

function copyOf(
  name: string,
  [t0, t1, t2, t3]: TraceWords,
  [s0, s1]: SpanWords,
  flags: number,
  state: number,
  traceState: string,
  carried: Carried | undefined,
  root?: Span,
): Span {
  const all = flags & TRACE_FLAGS_MASK;
  return new Span(
    undefined,
    state,
    name,
    t0,
    t1,
    t2,
    t3,
    s0,
    s1,
    0,
    0,
    all,
    traceState,
    carried,
    root,
  );
}

/**
 * A span with the ids of another, which is recorded elsewhere or not at all: as parent, in a link, or to be active.
 *
 * @param isRemote whether it is of another process.
 * @param root the topmost span of this process that what is below it belongs to; undefined: what begins next.
 */
export function standIn(
  trace: TraceWords,
  id: SpanWords,
  traceFlags: number,
  isRemote: boolean,
  traceState: string,
  carried: Carried | undefined,
  root?: Span,
): Span {
  const state = isRemote ? REMOTE : NOT_RECORDED;
  return copyOf('', trace, id, traceFlags, state, traceState, carried, root);
}

/** Without a target for spans, what was received is passed on as it came. */
export function unrecorded(name: string, parent: Parent, carried: Carried | undefined): Span {
  if (parent === undefined) {
    return copyOf(name, [0, 0, 0, 0], [0, 0], 0, NOT_RECORDED, '', carried);
  }
  const { traceState } = parent;
  if (parent instanceof Span) {
    const { t0, t1, t2, t3, s0, s1, flags } = parent;
    return copyOf(name, [t0, t1, t2, t3], [s0, s1], flags, NOT_RECORDED, traceState, carried);
  }
  const { trace, span, flags } = parent.parent!;
  return copyOf(name, trace, span, flags, NOT_RECORDED, traceState, carried);
}

/** The span that is returned while nothing is recorded and nothing is active. */
export const NOTHING = unrecorded('', undefined, undefined);

/** A span while there is no target: `NOTHING` if there is nothing to pass on. */
export function withoutTarget(name: string, parent: Parent, carried: Carried | undefined): Span {
  return parent === undefined && carried === undefined
    ? NOTHING
    : unrecorded(name, parent, carried);
}
