import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';
import { asCaller } from './callers.js';

/** Links of a batch at most: as many as a span has by default. */
const MAX_CALLERS = 128;

/** Who asked for a part of a batch, by the batch. */
const callers = new WeakMap<object, Map<Span | undefined, ActiveContext | undefined>>();

/** The calling code asks for a part of a batch. */
export function joinBatch(batch: object): void {
  const context = spans.activeContext();
  let all = callers.get(batch);
  if (all === undefined) {
    all = new Map<Span | undefined, ActiveContext | undefined>();
    callers.set(batch, all);
  }
  const span = context?.activeSpan;
  if (all.size < MAX_CALLERS && !all.has(span)) all.set(span, context);
}

/**
 * Calls a function that does what several callers have asked for. It runs below the first of them. If there are
 * others, what it begins has a link to each.
 */
export function runBatch<Result>(batch: object, run: () => Result): Result {
  const all = callers.get(batch);
  if (all === undefined) return run();
  const [first, ...others] = [...all.keys()].filter((span) => span !== undefined);
  const context = all.get(first);
  if (first === undefined || others.length === 0) return spans.runWith(context, run);
  const links = [first, ...others].map((to) => ({ to }));
  const carried = new spans.CarriedLinks(links, context?.carried);
  return spans.runWith(new spans.CarriedScope(first, carried), run);
}

/** As `runBatch`, for everything in a list whose callers are kept. */
export function runForAll<Result>(asked: readonly object[], run: () => Result): Result {
  if (asked.length === 1) return asCaller(asked[0]!, run);
  const join = (): void => {
    joinBatch(asked);
  };
  for (const each of asked) asCaller(each, join);
  return runBatch(asked, run);
}
