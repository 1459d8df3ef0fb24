import { wrongType } from '../core/errors.js';
import type { SpanAttributes } from './attributes.js';
import { activeContext } from './context/active-context.js';
import { runWith, runWithOne } from './context/context-storage.js';
import { isAnswer } from './exception.js';
import { OPEN, SHOWN } from './span.js';
import type { Span } from './span.js';
import { startSpan } from './start-span.js';
import type { StartOptions } from './start-span.js';
import { NOTHING } from './unrecorded-span.js';

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { then } = Promise.prototype;

/**
 * Calls `fn` with a new span that is active meanwhile, and ends the span with it: when it returns, when
 * the promise that it returns is settled, or when it throws. What it throws is recorded and thrown on. A redirect, or
 * another answer below 500, that a framework has the program throw is no failure.
 *
 * Only promises of the language are waited for. Other thenables, such as the queries of some libraries, are
 * returned untouched: calling their `then` would start them.
 *
 * @returns what `fn` returns, or a promise of the same.
 */
export function withSpan<Result>(
  name: string,
  attributes: SpanAttributes | undefined,
  fn: (span: Span) => Result,
  options?: StartOptions,
): Result {
  if (typeof fn !== 'function') throw wrongType('fn', fn, 'a function');
  const span = startSpan(name, attributes, options);
  if (span === NOTHING) return fn(span);
  let result: Result;
  try {
    result = runWithOne(span, fn, span);
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
  if (span.state === OPEN && isNativePromise(result)) {
    const promise = result;
    const fulfilled = (value: unknown): unknown => {
      span.end();
      return value;
    };
    const rejected = (error: unknown): never => {
      endFailed(span, error);
      throw error;
    };
    if (promise.then === then) return then.call(promise, fulfilled, rejected) as Result;
    // Of a class of its own, such as a query that begins only with this.
    return runWithOne(span, () => promise.then(fulfilled, rejected), span) as Result;
  }
  span.end();
  return result;
}

function endFailed(span: Span, error: unknown): void {
  if (!isAnswer(error)) span.fail(error);
  span.end();
}

let isPromise: ((value: unknown) => value is Promise<unknown>) | undefined;

function isNativePromise(value: unknown): value is Promise<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  isPromise ??= process.getBuiltinModule('node:util').types.isPromise;
  return isPromise(value);
}

/** The span that is active in the calling code. */
export function activeSpan(): Span | undefined {
  const active = activeContext();
  const span = active === undefined ? undefined : active.activeSpan;
  if (span !== undefined) span.flags |= SHOWN;
  return span;
}

function apply<This, Arguments extends unknown[], Result>(
  fn: (this: This, ...values: Arguments) => Result,
  self: This,
  values: Arguments,
): Result {
  return fn.apply(self, values);
}

/**
 * A function that is called with what is active now, for callbacks that are called elsewhere.
 */
export function bind<This, Arguments extends unknown[], Result>(
  fn: (this: This, ...values: Arguments) => Result,
): (this: This, ...values: Arguments) => Result {
  if (typeof fn !== 'function') throw wrongType('fn', fn, 'a function');
  const context = activeContext();
  return function (this: This, ...values: Arguments): Result {
    return runWith(context, apply<This, Arguments, Result>, fn, this, values);
  };
}
