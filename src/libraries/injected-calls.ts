import * as diagnostics from 'node:diagnostics_channel';
import type { Channel } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { directRecorder, recordCallback, recordPromise } from './engine/direct-calls.js';
import type { AnyFunction, CallRecorder } from './engine/direct-calls.js';

/** What is published of a call. A subscriber to its start may change the arguments. */
interface CallMessage {
  self: unknown;
  arguments: unknown[];
  result?: unknown;
  error?: unknown;
}

interface Channels {
  start: Channel;
  end: Channel;
  asyncStart: Channel;
  asyncEnd: Channel;
  error: Channel;
}

/** Runs a function below the stores of a channel, with a message. */
function run(channel: Channel, message: CallMessage, call: () => unknown): unknown {
  return channel.runStores(message, call);
}

function publishEnd({ asyncStart, asyncEnd }: Channels, message: CallMessage): void {
  asyncStart.publish(message);
  asyncEnd.publish(message);
}

/** The program's callback, which is published, and runs below the stores of `asyncStart`. */
function publishedCallback(
  channels: Channels,
  message: CallMessage,
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
    return run(channels.asyncStart, message, () => {
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
  channels: Channels,
  message: CallMessage,
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

/** The same of a call that is not published: nobody subscribes but what records it. */
function recordedCall(
  recorder: CallRecorder,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
): unknown {
  const message: CallMessage = { self, arguments: args };
  const last = args.length - 1;
  if (typeof args[last] === 'function') {
    return recordCallback(recorder, message, original, self, args, last);
  }
  return recordPromise(recorder, message, original, self, args);
}

/** Calls a function, and publishes that: a callback as its last argument, or a promise as its result, ends it. */
function publishedCall(
  channels: Channels,
  original: AnyFunction,
  self: unknown,
  given: ArrayLike<unknown>,
): unknown {
  if (!channels.start.hasSubscribers) return Reflect.apply(original, self, given);
  const args = Array.from(given);
  const recorder = directRecorder(channels.start);
  if (recorder !== undefined) return recordedCall(recorder, original, self, args);
  const message: CallMessage = { self, arguments: args };
  const callback = args.at(-1);
  const callsBack = typeof callback === 'function';
  if (callsBack) {
    args[args.length - 1] = publishedCallback(channels, message, callback as AnyFunction);
  }
  return run(channels.start, message, () => {
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

/** Calls the listeners of an event as `emit` does; returns a promise that all of theirs have settled with. */
function callListeners(
  emitter: EventEmitter,
  event: string,
  values: readonly unknown[],
): Promise<unknown> | undefined {
  const promises: unknown[] = [];
  for (const listener of emitter.rawListeners(event)) {
    const result = Reflect.apply(listener, emitter, values) as unknown;
    if (result instanceof Promise) promises.push(result);
  }
  if (promises.length < 2) return promises[0] as Promise<unknown> | undefined;
  return Promise.all(promises);
}

/** A call of gRPC that its owner has yet to start. */
interface StartableCall {
  start: (metadata: unknown, listener: StatusListener | undefined) => unknown;
}

interface StatusListener {
  onReceiveMetadata?: (metadata: unknown) => void;
  onReceiveMessage?: (message: unknown) => void;
  onReceiveStatus?: (status: { code: number }) => void;
}

const OK = 0;

/** Publishes a call of gRPC from its start to its status. */
function publishedStart(channels: Channels, call: StartableCall, fields: object): StartableCall {
  if (!channels.start.hasSubscribers) return call;
  const { start } = call;
  call.start = (metadata, listener) => {
    const message: Record<string, unknown> = { ...fields, metadata };
    const received = (listen: () => void): void => {
      channels.asyncStart.runStores(message, listen);
    };
    const published: Required<StatusListener> = {
      onReceiveMetadata(value) {
        received(() => listener?.onReceiveMetadata?.(value));
      },
      onReceiveMessage(value) {
        received(() => listener?.onReceiveMessage?.(value));
      },
      onReceiveStatus(status) {
        message['status'] = status;
        if (status.code !== OK) {
          message['error'] = status;
          channels.error.publish(message);
        }
        try {
          received(() => listener?.onReceiveStatus?.(status));
        } finally {
          channels.asyncEnd.publish(message);
        }
      },
    };
    return channels.start.runStores(message, () => {
      try {
        return start.call(call, message['metadata'], published);
      } catch (error) {
        message['error'] = error;
        channels.error.publish(message);
        throw error;
      } finally {
        channels.end.publish(message);
      }
    });
  };
  return call;
}

/** The tracing channel that a changed file of a library publishes on. */
export function injectedChannel(name: string): object {
  const channels = diagnostics.tracingChannel(name) as Channels & diagnostics.TracingChannel;
  return {
    traceSync: channels.traceSync.bind(channels),
    call: (original: AnyFunction, self: unknown, args: ArrayLike<unknown>) =>
      publishedCall(channels, original, self, args),
    started: (call: StartableCall, fields: object) => publishedStart(channels, call, fields),
    emit: (emitter: EventEmitter, event: string, ...values: unknown[]) =>
      channels.traceSync(callListeners, { emitter, event }, undefined, emitter, event, values),
  };
}

/**
 * Publishes the calls of a method.
 *
 * @param names the first that the object has is published.
 * @throws if the object has none of them.
 */
export function publishMethod(channel: string, owner: object, names: readonly string[]): void {
  const name = names.find((each) => Object.hasOwn(owner, each));
  const found = name === undefined ? undefined : Object.getOwnPropertyDescriptor(owner, name);
  if (name === undefined || typeof found?.value !== 'function') {
    throw new TypeError(`it has no function ${names.join(' or ')}`);
  }
  const original = found.value as AnyFunction;
  const channels = diagnostics.tracingChannel(channel) as Channels;
  const published = function (this: unknown, ...args: unknown[]): unknown {
    return publishedCall(channels, original, this, args);
  };
  Object.defineProperty(published, 'name', { value: name });
  Object.defineProperty(published, 'length', { value: original.length });
  Object.defineProperty(owner, name, { ...found, value: published });
}
