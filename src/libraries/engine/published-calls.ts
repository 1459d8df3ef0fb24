import * as diagnostics from 'node:diagnostics_channel';

/** The message of a call: a library publishes the same object with each of its events. */
export interface PublishedMessage {
  result?: unknown;
  error?: unknown;
}

/** The key of what records the calls of a channel without messages. */
export const DIRECT = Symbol('tracewright.direct');

/** Records the calls of a channel without messages, as long as nobody else subscribes to it. */
export interface DirectCalls {
  readonly isAlone: boolean;
  /** Whether a call that begins now is recorded by nobody. */
  readonly isUnheard: boolean;
  call(original: AnyFunction, message: MethodMessage): unknown;
  /** Calls a function without arguments: the promise that it returns ends the call. */
  promise(original: AnyFunction, message: PublishedMessage): unknown;
  /**
   * Has a callback of the library's own end the call that is running. The program gets the promise as it is then: a
   * promise and two closures fewer.
   */
  ends(callback: AnyFunction): AnyFunction;
  /** Begins a call that something else ends; undefined: it is not recorded. */
  begin(message: PublishedMessage): object | undefined;
  /** The callback that ends what `begin` has returned. */
  callback(message: PublishedMessage, call: object, callback: AnyFunction): AnyFunction;
  /** A call that would be over at once is not made: nothing is recorded but who has its result now. */
  acquired(result: unknown): void;
  /** Ends a call that `begin` has returned. The message of a failed one has its error. */
  end(message: PublishedMessage, call: object, hasFailed: boolean): void;
}

/** The key of what records calls that take turns, for a library that calls it instead of publishing. */
export const TURNS = Symbol('tracewright.turns');

/** Calls that take turns: the message of one leads to it. */
export interface TurnCalls {
  readonly isAlone: boolean;
  /** Begins a call; undefined: it is not recorded. */
  begin(message: PublishedMessage): object | undefined;
  /** The library's function has returned. The message of what has failed has an error. */
  returned(message: PublishedMessage, call: object, isPending: boolean): void;
  ended(message: PublishedMessage, call: object): void;
}

export type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Node's object of a channel with subscribers. It is not documented: without it there is no direct way. */
export interface CallChannel {
  readonly _subscribers?: { readonly length: number };
  readonly _stores?: { readonly size: number };
  [DIRECT]?: DirectCalls;
  [TURNS]?: TurnCalls;
  readonly hasSubscribers: boolean;
  publish(message: object): void;
  runStores(message: object, run: () => unknown): unknown;
}

/** The five of a tracing channel. */
export interface CallChannels {
  readonly start: CallChannel;
  readonly end: CallChannel;
  readonly asyncStart: CallChannel;
  readonly asyncEnd: CallChannel;
  readonly error: CallChannel;
}

/** How many subscribe to a channel: functions, and stores. */
export function subscriptionsOf({ _subscribers, _stores }: CallChannel): number {
  return (_subscribers?.length ?? 0) + (_stores?.size ?? 0);
}

/** The functions of a channel by which subscribers come and go. */
const CHANGES = ['subscribe', 'unsubscribe', 'bindStore', 'unbindStore'];

/**
 * Calls `changed` after each change of who subscribes to a channel. Asking the channels in each call costs V8 a search:
 * hardly two of them are alike.
 */
export function watchSubscribers(channel: CallChannel, changed: () => void): void {
  for (const name of CHANGES) {
    const own = Object.getOwnPropertyDescriptor(channel, name)?.value as AnyFunction | undefined;
    const change = function (this: object, ...args: unknown[]): unknown {
      // Node gives the channel another prototype with its first subscriber, and after its last.
      const inherited = Object.getPrototypeOf(this) as Record<string, AnyFunction>;
      try {
        return (own ?? inherited[name]!).apply(this, args);
      } finally {
        changed();
      }
    };
    Object.defineProperty(channel, name, { value: change, configurable: true, writable: true });
  }
}

/** The message of a call of a method. A subscriber to its start may change the arguments. */
export interface MethodMessage extends PublishedMessage {
  self: unknown;
  arguments: unknown[];
}

function publishEnd({ asyncStart, asyncEnd }: CallChannels, message: MethodMessage): void {
  asyncStart.publish(message);
  asyncEnd.publish(message);
}

/** The program's callback, which is published, and runs below the stores of `asyncStart`. */
export function publishedCallback(
  channels: CallChannels,
  message: PublishedMessage,
  callback: AnyFunction,
): AnyFunction {
  return function (this: unknown, ...outcome) {
    const [error, result] = outcome;
    if (error !== undefined && error !== null) {
      message.error = error;
      channels.error.publish(message);
    } else {
      message.result = result;
    }
    return channels.asyncStart.runStores(message, () => {
      try {
        return callback.apply(this, outcome);
      } finally {
        channels.asyncEnd.publish(message);
      }
    });
  };
}

/** Publishes how a promise settles; returns what the program is to get in its stead. */
function publishedPromise(
  channels: CallChannels,
  message: MethodMessage,
  promise: PromiseLike<unknown>,
): unknown {
  const resolved = (result: unknown): unknown => {
    message.result = result;
    publishEnd(channels, message);
    return result;
  };
  const rejected = (error: unknown): void => {
    message.error = error;
    channels.error.publish(message);
    publishEnd(channels, message);
  };
  if (promise instanceof Promise && promise.constructor === Promise) {
    // A promise of its own: a rejection that the program does not handle is found as before.
    return promise.then(resolved, (error: unknown) => {
      rejected(error);
      throw error;
    });
  }
  promise.then(resolved, rejected);
  return promise;
}

/** Further fields of the message of a call, beyond its object and its arguments. */
export type FieldsOf = (self: unknown, args: readonly unknown[]) => object;

/**
 * Calls a function, and publishes that: a callback as its last argument, or a promise as its result, ends it.
 *
 * @param given an array becomes the message's own.
 * @param fieldsOf further fields of the message. It must not throw.
 */
export function publishedCall(
  channels: CallChannels,
  original: AnyFunction,
  self: unknown,
  given: ArrayLike<unknown>,
  fieldsOf?: FieldsOf,
): unknown {
  const direct = channels.start[DIRECT];
  const isDirect = direct?.isAlone === true;
  if (!isDirect && !channels.start.hasSubscribers) return Reflect.apply(original, self, given);
  const args: unknown[] = Array.isArray(given) ? given : Array.from(given);
  const message: MethodMessage = { self, arguments: args };
  if (fieldsOf !== undefined) Object.assign(message, fieldsOf(self, args));
  if (isDirect) return direct.call(original, message);
  const callback = args.at(-1);
  const callsBack = typeof callback === 'function';
  if (callsBack) {
    args[args.length - 1] = publishedCallback(channels, message, callback as AnyFunction);
  }
  return channels.start.runStores(message, () => {
    try {
      const result = original.apply(self, args);
      if (callsBack) return result;
      if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
        return publishedPromise(channels, message, result as PromiseLike<unknown>);
      }
      message.result = result;
      return result;
    } catch (error) {
      message.error = error;
      channels.error.publish(message);
      throw error;
    } finally {
      channels.end.publish(message);
    }
  });
}

/**
 * Publishes the calls of a method.
 *
 * @param names the first that the object has is published.
 * @param fieldsOf as of {@link publishedCall}.
 * @throws if the object has none of them.
 */
export function publishMethod(
  channel: string,
  owner: object,
  names: readonly string[],
  fieldsOf?: FieldsOf,
): void {
  const name = names.find((each) => Object.hasOwn(owner, each));
  const found = name === undefined ? undefined : Object.getOwnPropertyDescriptor(owner, name);
  if (name === undefined || typeof found?.value !== 'function') {
    throw new TypeError(`it has no function ${names.join(' or ')}`);
  }
  const original = found.value as AnyFunction;
  const channels = diagnostics.tracingChannel(channel) as unknown as CallChannels;
  const published = function (this: unknown, ...args: unknown[]): unknown {
    return publishedCall(channels, original, this, args, fieldsOf);
  };
  Object.defineProperty(published, 'name', { value: name });
  Object.defineProperty(published, 'length', { value: original.length });
  Object.defineProperty(owner, name, { ...found, value: published });
}
