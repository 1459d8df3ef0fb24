import { shared } from '../core/process-state.js';

/** Operations of libraries that no span asked for, and that have ended: their number, and their ns together. */
interface ParentlessCalls {
  count: number;
  ns: number;
}

const calls = shared('libraries.parentless', (): ParentlessCalls => ({ count: 0, ns: 0 }));

/** An operation of this thread that is no span has ended. */
export function countParentless(ns: number): void {
  calls.count += 1;
  calls.ns += ns;
}

/** Those of this thread since the last call of this; undefined: there were none. */
export function takeParentless(): ParentlessCalls | undefined {
  if (calls.count === 0) return undefined;
  const { count, ns } = calls;
  calls.count = 0;
  calls.ns = 0;
  return { count, ns: Math.round(ns) };
}
