import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import type { AnyFunction } from './published-calls.js';

/** The key of what was active where the program asked for what a library does later. */
const CALLER = Symbol('tracewright.caller');

interface Asked {
  [CALLER]?: Caller;
}

/** The context in which it is made, if there is one. */
export class Caller {
  readonly context: ActiveContext | undefined = spans.activeContext();

  call<Result>(fn: () => Result): Result {
    return spans.runWith(this.context, fn);
  }
}

/** Keeps what is active with what the program asks for now, again. */
export function setCaller(asked: object): void {
  (asked as Asked)[CALLER] = new Caller();
}

/** Keeps what is active with what the program asks for now. */
export function keepCaller(asked: object): void {
  if (!hasCaller(asked)) setCaller(asked);
}

/** The context that was active where the program asked for this; undefined: nobody knows. */
export function callerOf(asked: object): ActiveContext | undefined {
  return (asked as Asked)[CALLER]?.context;
}

/** Whether the library does this elsewhere than where the program asked for it. */
export function hasCaller(asked: object): boolean {
  return (asked as Asked)[CALLER] !== undefined;
}

/** Calls a function with what was active where the program asked for this, if that is known. */
export function asCaller<Result>(asked: object, fn: () => Result): Result {
  const caller = (asked as Asked)[CALLER];
  return caller === undefined ? fn() : caller.call(fn);
}

/** Has functions of an object called with what is active now. Those that it does not have are left out. */
export function bindFunctions(object: object, names: readonly string[]): void {
  const functions = object as Record<string, unknown>;
  for (const name of names) {
    const fn = functions[name];
    if (typeof fn === 'function') functions[name] = spans.bind(fn as AnyFunction);
  }
}

/** A callback, called with what is active now. Anything else is returned as it is. */
export function boundCallback(callback: unknown): unknown {
  return typeof callback === 'function' ? spans.bind(callback as AnyFunction) : callback;
}

/** Calls a function that goes on for ever, such as the loop of a worker: nothing is active in it. */
export function callOutside<Result>(fn: () => Result): Result {
  return spans.runWith(undefined, fn);
}
