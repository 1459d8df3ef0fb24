import { shared } from '../../core/process-state.js';
import type { Span } from '../../spans/span.js';
import { isCallersFault } from './answered-errors.js';

/** A function of the program that a framework has called for a request, and that has thrown. */
interface FailedHandler {
  readonly span: Span;
  readonly error: unknown;
  /** When it has thrown, in nanoseconds since 1970. */
  readonly time: bigint;
  readonly mark: (time: bigint) => void;
}

/** Of one request. What fails beyond that has failed, whatever the answer is. */
const MOST = 64;

interface FailedHandlers {
  /** By the spans of their requests. */
  readonly ofRequests: Map<Span, FailedHandler[]>;
  /** Whether `requestAnswered` will be called for a root; undefined: never. */
  isRequest: ((root: Span) => boolean) | undefined;
}

/** The answer to its request says whether a function has failed: error handlers turn errors into answers. */
export const failedHandlers = shared('libraries.failedHandlers', (): FailedHandlers => ({
  ofRequests: new Map(),
  isRequest: undefined,
}));

/**
 * Ends the span of a function that has thrown as soon as its request is answered.
 *
 * @param mark says that the span has failed.
 * @returns false: there is no such request. The span is as it was.
 */
export function endWhenAnswered(span: Span, error: unknown, mark: FailedHandler['mark']): boolean {
  const { root, output } = span;
  const { ofRequests, isRequest } = failedHandlers;
  if (output === undefined || !root.recording || isRequest?.(root) !== true) return false;
  let handlers = ofRequests.get(root);
  if (handlers === undefined) ofRequests.set(root, (handlers = []));
  if (handlers.length >= MOST) return false;
  const time = output.epoch() + BigInt(Math.round(output.timeOf(undefined)));
  handlers.push({ span, error, time, mark });
  return true;
}

/**
 * A request is answered. An error that has passed through several functions is one of the innermost, which has thrown
 * first.
 *
 * @param status undefined: it never will be.
 */
export function requestAnswered(request: Span, status: number | undefined): void {
  const { ofRequests } = failedHandlers;
  const handlers = ofRequests.get(request);
  if (handlers === undefined) return;
  ofRequests.delete(request);
  const isFailure = status === undefined || !isCallersFault(status);
  const errors = new Set<unknown>();
  for (const { span, error, time, mark } of handlers) {
    if (isFailure && !errors.has(error)) mark(time);
    errors.add(error);
    span.end(time);
  }
}
