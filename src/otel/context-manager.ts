import type { Context, ContextManager } from '@opentelemetry/api';
import { spans } from '../spans/shared-spans.js';
import { activeIn, addRoot, ApiContext } from './api-context.js';
import { programsRoot } from './api-copies.js';
import { addOwn } from './api-globals.js';
import { bindEmitter, isEmitter } from './bound-emitter.js';
import { countWrongArgument } from './wrong-arguments.js';

const { activeContext, enterContext, runWith } = spans;

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;

function call(fn: AnyFunction, self: unknown, values: unknown[]): unknown {
  return fn.apply(self, values);
}

/** What `attach` returns. */
export interface AttachedContext {
  /** Makes active again what was so before. */
  dispose(): void;
}

/**
 * Keeps the active context of the OpenTelemetry API, which is that of tracewright/spans too: `activeSpan()` and
 * `trace.getActiveSpan()` are the same span.
 */
export class TracewrightContextManager implements ContextManager {
  readonly #root: Context;
  #isEnabled = true;

  /**
   * @param root what is active where nothing is. Default: `ROOT_CONTEXT` of the API that the program's main file gets.
   */
  constructor(root?: Context) {
    this.#root = root ?? programsRoot() ?? new ApiContext(undefined, undefined);
    addRoot(this.#root);
    addOwn(this);
  }

  active(): Context {
    const active = this.#isEnabled ? activeContext() : undefined;
    if (active === undefined) return this.#root;
    // Spans, and what carries something without one, have the methods of contexts.
    return active instanceof ApiContext ? active.shown : (active as unknown as Context);
  }

  with<Arguments extends unknown[], Fn extends (...values: Arguments) => ReturnType<Fn>>(
    context: Context,
    fn: Fn,
    thisArg?: ThisParameterType<Fn>,
    ...values: Arguments
  ): ReturnType<Fn> {
    if (typeof fn !== 'function') {
      countWrongArgument();
      return undefined as ReturnType<Fn>;
    }
    this.#isEnabled = true;
    const active = activeIn(context);
    if (thisArg === undefined || thisArg === null) return runWith(active, fn, ...values);
    return runWith(active, call, fn as unknown as AnyFunction, thisArg, values) as ReturnType<Fn>;
  }

  bind<Target>(context: Context, target: Target): Target {
    const given: unknown = target;
    if (typeof given === 'function')
      return this.#bindFunction(context, given as AnyFunction) as Target;
    try {
      if (isEmitter(given)) bindEmitter(given, (listener) => this.#bindFunction(context, listener));
    } catch {
      countWrongArgument();
    }
    return target;
  }

  #bindFunction(context: Context, fn: AnyFunction): AnyFunction {
    const active = activeIn(context);
    const enable = (): unknown => this.enable();
    const bound = function (this: unknown, ...values: unknown[]): unknown {
      enable();
      return runWith(active, call, fn, this, values);
    };
    // Express and others look at it.
    Object.defineProperty(bound, 'length', { value: fn.length, configurable: true });
    return bound;
  }

  enable(): this {
    this.#isEnabled = true;
    return this;
  }

  /**
   * Nothing is active any more in the calling code and what it starts, spans of tracewright/spans included: tests that
   * call this after each case do not pass a span on to the next. Elsewhere nothing is active for the API until the next
   * `enable`, `with` or `attach`.
   */
  disable(): this {
    if (activeContext() !== undefined) enterContext(undefined);
    this.#isEnabled = false;
    return this;
  }

  /**
   * Makes a context active in the calling code and what it starts, until the result is disposed of. In an async
   * function it stays active in the caller. `with` does not have that trap.
   */
  attach(context: Context): AttachedContext {
    this.#isEnabled = true;
    const before = activeContext();
    enterContext(activeIn(context));
    let isAttached = true;
    return {
      dispose(): void {
        if (isAttached) enterContext(before);
        isAttached = false;
      },
    };
  }
}
