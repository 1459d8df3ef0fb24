import * as diagnostics from 'node:diagnostics_channel';
import { spans } from '../../spans/shared-spans.js';
import type { ActiveContext } from '../../spans/context/active-context.js';

/** What a library publishes of a call: one object for all of its events. */
export interface CallMessage {
  result?: unknown;
  error?: unknown;
}

/** A call that is recorded. */
export interface RecordedCall {
  /** What was active where the program called. */
  readonly caller: ActiveContext | undefined;
}

/** Records the calls of one tracing channel, with its subscribers or without them. */
export interface CallRecorder {
  /** Whether a callback of the program gets back what was active where it called. */
  readonly callsBack: boolean;
  /** Begins a call; undefined: it is not recorded. */
  begin(message: CallMessage): RecordedCall | undefined;
  /** The library's function has returned. */
  returned(message: CallMessage, call: RecordedCall): void;
  /** The call is over. */
  ended(message: CallMessage, call: RecordedCall): void;
  /** The subscribers get a call that has begun already. */
  handOver(message: CallMessage, call: RecordedCall): void;
}

export type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** What Node keeps of a channel with subscribers. It is not documented, so its absence means that there is no direct way. */
interface Channel {
  readonly _subscribers?: { readonly length: number };
  readonly _stores?: { readonly size: number };
  [DIRECT]?: DirectChannel;
  runStores(message: object, run: AnyFunction, self?: unknown, ...args: unknown[]): unknown;
}

interface Channels {
  readonly start: Channel;
  readonly end: Channel;
  readonly asyncStart: Channel;
  readonly asyncEnd: Channel;
  readonly error: Channel;
}

/** The functions of Node's `TracingChannel` that are replaced. */
interface TracingFunctions {
  traceCallback: AnyFunction;
  tracePromise: AnyFunction;
  traceSync: AnyFunction;
}

const DIRECT = Symbol('tracewright.direct');
// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { then } = Promise.prototype;

/** How many subscribe to a channel: functions, and stores. */
function subscriptionsOf({ _subscribers, _stores }: Channel): number {
  return (_subscribers?.length ?? 0) + (_stores?.size ?? 0);
}

/** The channels of a library, each of which has one subscriber at most as long as nobody else subscribes. */
class DirectChannel {
  readonly recorder: CallRecorder;
  readonly #channels: Channels;
  readonly #hasAsyncStart: number;

  constructor(channels: Channels, recorder: CallRecorder) {
    this.#channels = channels;
    this.recorder = recorder;
    this.#hasAsyncStart = recorder.callsBack ? 1 : 0;
  }

  get isAlone(): boolean {
    const { start, end, asyncStart, asyncEnd, error } = this.#channels;
    return (
      subscriptionsOf(start) === 1 &&
      subscriptionsOf(end) === 1 &&
      subscriptionsOf(asyncStart) === this.#hasAsyncStart &&
      subscriptionsOf(asyncEnd) === 1 &&
      subscriptionsOf(error) === 0
    );
  }
}

/** What records the calls of a tracing channel; undefined: somebody else has subscribed to it, too. */
export function directRecorder(start: object): CallRecorder | undefined {
  const direct = (start as Channel)[DIRECT];
  return direct?.isAlone === true ? direct.recorder : undefined;
}

/** Calls a function, and records that its callback, of which `position` is the number, ends the call. */
export function recordCallback(
  recorder: CallRecorder,
  message: CallMessage,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
  position: number,
): unknown {
  const call = recorder.begin(message);
  if (call === undefined) return original.apply(self, args);
  const callback = args[position] as AnyFunction;
  args[position] = function (this: unknown, ...outcome: unknown[]): unknown {
    // By index: V8 makes no list of them then.
    const error = outcome[0];
    if (error) message.error = error;
    else message.result = outcome[1];
    if (!recorder.callsBack) {
      try {
        return callback.apply(this, outcome);
      } finally {
        recorder.ended(message, call);
      }
    }
    const before = spans.swapContext(call.caller);
    try {
      return callback.apply(this, outcome);
    } finally {
      recorder.ended(message, call);
      spans.leaveContext(before);
    }
  };
  try {
    return original.apply(self, args);
  } catch (error) {
    message.error = error;
    throw error;
  } finally {
    recorder.returned(message, call);
  }
}

/**
 * Calls a function that returns a promise, and records that this ends the call.
 *
 * @param publish gets what is no promise of the language's own class. Default: it is waited for if it has a `then`.
 */
export function recordPromise(
  recorder: CallRecorder,
  message: CallMessage,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
  publish?: (result: unknown) => unknown,
): unknown {
  const call = recorder.begin(message);
  if (call === undefined) return original.apply(self, args);
  let result: unknown;
  try {
    result = original.apply(self, args);
  } catch (error) {
    message.error = error;
    recorder.returned(message, call);
    throw error;
  }
  const isOwn = result instanceof Promise && result.constructor === Promise;
  if (!isOwn && publish !== undefined) {
    recorder.handOver(message, call);
    return publish(result);
  }
  const resolved = (value: unknown): unknown => {
    message.result = value;
    recorder.ended(message, call);
    return value;
  };
  if (isOwn) {
    recorder.returned(message, call);
    // A promise of its own: a rejection that the program does not handle is found as before.
    return then.call(result as Promise<unknown>, resolved, (error: unknown) => {
      message.error = error;
      recorder.ended(message, call);
      throw error;
    });
  }
  const isAwaited = typeof (result as PromiseLike<unknown> | undefined)?.then === 'function';
  if (!isAwaited) message.result = result;
  recorder.returned(message, call);
  if (isAwaited) {
    (result as PromiseLike<unknown>).then(resolved, (error: unknown) => {
      message.error = error;
      recorder.ended(message, call);
    });
  }
  return result;
}

/** Calls a function that is over when it returns. */
export function recordCall(
  recorder: CallRecorder,
  message: CallMessage,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
): unknown {
  const call = recorder.begin(message);
  if (call === undefined) return original.apply(self, args);
  try {
    const result = original.apply(self, args);
    message.result = result;
    return result;
  } catch (error) {
    message.error = error;
    throw error;
  } finally {
    recorder.returned(message, call);
  }
}

/** A message of Node's own making is of no use to a recorder. */
function isObject(message: unknown): message is object {
  return typeof message === 'object' && message !== null;
}

let isReplaced = false;

/** Replaces the functions of `TracingChannel`: those of channels that are not recorded do what they did. */
function replaceFunctions(prototype: TracingFunctions): void {
  const { traceCallback, tracePromise, traceSync } = prototype;
  prototype.traceCallback = function (original, position, message, self, ...args) {
    const recorder = directRecorder((this as Channels).start);
    const at = typeof position === 'number' && position < 0 ? args.length + position : position;
    if (
      recorder === undefined ||
      !isObject(message) ||
      typeof at !== 'number' ||
      typeof args[at] !== 'function'
    ) {
      return traceCallback.call(this, original, position, message, self, ...args);
    }
    return recordCallback(recorder, message, original as AnyFunction, self, args, at);
  };
  prototype.tracePromise = function (original, message, self, ...args) {
    const recorder = directRecorder((this as Channels).start);
    if (recorder === undefined || !isObject(message)) {
      return tracePromise.call(this, original, message, self, ...args);
    }
    return recordPromise(recorder, message, original as AnyFunction, self, args, (result) =>
      tracePromise.call(this, () => result, message),
    );
  };
  prototype.traceSync = function (original, message, self, ...args) {
    const recorder = directRecorder((this as Channels).start);
    if (recorder === undefined || !isObject(message)) {
      return traceSync.call(this, original, message, self, ...args);
    }
    return recordCall(recorder, message, original as AnyFunction, self, args);
  };
}

/**
 * Records the calls of a tracing channel without publishing them, as long as nobody else subscribes to it. Node
 * publishes a call by closures and lists of arguments, and from Node 24 on enters each store by a copy of a map of all.
 */
export function recordDirectly(channel: string, recorder: CallRecorder): void {
  const channels = diagnostics.tracingChannel(channel);
  (channels as unknown as Channels).start[DIRECT] = new DirectChannel(channels, recorder);
  if (isReplaced) return;
  isReplaced = true;
  replaceFunctions(Object.getPrototypeOf(channels) as TracingFunctions);
}
