import type { Carried } from './context/carried.js';
import type { RemoteParent } from './context/remote-parent.js';
import { TRACE_FLAGS_MASK } from './layout.js';
import { NOT_RECORDED, REMOTE, Span } from './span.js';

/** What a span can be below. */
export type Parent = Span | RemoteParent | undefined;

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

/** Without a target for spans, what was received is passed on as it came. */
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

/** What is returned while nothing is recorded and nothing is active. */
export const NOTHING = unrecorded('', undefined, undefined);
