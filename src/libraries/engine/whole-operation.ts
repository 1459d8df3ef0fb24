import type { Operation } from '../library.js';

/** Every optional field: most operations have none of them. */
const ABSENT = {
  nests: undefined,
  entersByHand: undefined,
  connects: undefined,
  asksOnce: undefined,
  callsBack: undefined,
  isHandler: undefined,
  handlesPromises: undefined,
  needsParent: undefined,
  countedAlone: undefined,
  atLeastMs: undefined,
  isMinor: undefined,
  notice: undefined,
  isDetached: undefined,
  linkOf: undefined,
  received: undefined,
  beginsTrace: undefined,
  carry: undefined,
  turnsOn: undefined,
  isDone: undefined,
  errorOf: undefined,
  finish: undefined,
  failure: undefined,
  isControlFlow: undefined,
  acquired: undefined,
};

/**
 * An operation in the shape that all have: V8 looks up what may be there without a search then, a dozen times in each
 * call.
 */
export function whole(operation: Operation): Operation {
  return { ...ABSENT, ...operation } as Operation;
}
