import type { Context, ContextManager } from '@opentelemetry/api';
import type { EventEmitter } from 'node:events';
import { spans } from '../spans/shared-spans.js';
import { activeIn, addRoot, ApiContext } from './api-context.js';
import { programsRoot } from './api-copies.js';
import { addOwn } from './api-globals.js';
import { countWrongArgument } from './wrong-arguments.js';

type Listener = (this: unknown, ...values: unknown[]) => unknown;
type Method = (this: EventEmitter, event: string | symbol, listener: Listener) => EventEmitter;

type Methods = Readonly<Record<string, Method | undefined>>;

const ADDING = ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'] as const;
const REMOVING = ['off', 'removeListener'] as const;

/** Emitters that are bound: to one context each. */
const bound = new WeakSet<EventEmitter>();

/** Whether a value adds and removes listeners as an EventEmitter does. */
function isEmitter(value: unknown): value is EventEmitter {
  if (typeof value !== 'object' || value === null) return false;
  const emitter = value as Partial<EventEmitter>;
  return typeof emitter.on === 'function' && typeof emitter.removeListener === 'function';
}

/** Has listeners that are added from now on called as `bind` makes them. A bound emitter stays as it is. */
function bindEmitter(emitter: EventEmitter, bind: (listener: Listener) => Listener): void {
  if (bound.has(emitter)) return;
  bound.add(emitter);
  const made = new WeakMap<Listener, Listener>();
  /** `once` calls `on`: what one of them has bound the other leaves alone. */
  let isAdding = false;
  const replace = (name: (typeof ADDING)[number] | (typeof REMOVING)[number], by: Method): void => {
    Object.defineProperty(emitter, name, { value: by, configurable: true, writable: true });
  };
  for (const name of ADDING) {
    const original = (emitter as unknown as Methods)[name];
    if (typeof original !== 'function') continue;
    replace(name, function (event, listener) {
      if (isAdding || typeof listener !== 'function') return original.call(this, event, listener);
      let own = made.get(listener);
      if (own === undefined) made.set(listener, (own = bind(listener)));
      isAdding = true;
      try {
        return original.call(this, event, own);
      } finally {
        isAdding = false;
      }
    });
  }
  for (const name of REMOVING) {
    const original = (emitter as unknown as Methods)[name];
    if (typeof original !== 'function') continue;
    replace(name, function (event, listener) {
      return original.call(this, event, made.get(listener) ?? listener);
    });
  }
}

const { activeContext, enterContext, runWith } = spans;

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;

function call(fn: AnyFunction, self: unknown, values: unknown[]): unknown {
  return fn.apply(self, values);
}

/** Result of `attach`. */
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
