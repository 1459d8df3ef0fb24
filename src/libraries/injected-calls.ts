import * as diagnostics from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { AsyncResource } from 'node:async_hooks';
import { publishedCall, publishedCallback } from './engine/published-calls.js';
import type {
  AnyFunction,
  CallChannels,
  MethodMessage,
  PublishedMessage,
} from './engine/published-calls.js';

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
function publishedGrpcCall(
  channels: CallChannels,
  call: StartableCall,
  fields: Fields,
): StartableCall {
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

type RequestClass = new (...args: unknown[]) => object;

/** Requests that wait for one of a pool's clients, by what handles their answer. */
const pooled = new WeakMap<object, MethodMessage>();

/** Publishes that a request is given to a pool, which may keep it. */
function publishPooled({ start, end }: CallChannels, self: unknown, handler: unknown): void {
  if (!start.hasSubscribers || typeof handler !== 'object' || handler === null) return;
  if (pooled.has(handler)) return;
  const message: MethodMessage = { self, arguments: [] };
  pooled.set(handler, message);
  start.publish(message);
  end.publish(message);
}

/** Makes the request of a client, where the program asked for it: the pool may have kept it since. */
function madeRequest(
  { asyncStart, asyncEnd }: CallChannels,
  client: unknown,
  handler: object,
  make: () => object,
): unknown {
  const message = pooled.get(handler);
  if (message === undefined) return make();
  pooled.delete(handler);
  message.result = client;
  return asyncStart.runStores(message, () => {
    // The wait is over before the request begins.
    asyncEnd.publish(message);
    return make();
  });
}

/** What was published when it was given to a library: one may give it to itself again. */
const published = new WeakSet<object>();

/** Further fields of a message. */
type Fields = Readonly<Record<string, unknown>>;

/** Publishes that a call begins; undefined: nobody listens, or that was published. */
function publishStart(
  { start, end }: CallChannels,
  subject: object,
  message: PublishedMessage & Fields,
): PublishedMessage | undefined {
  if (!start.hasSubscribers || published.has(subject)) return undefined;
  published.add(subject);
  start.publish(message);
  end.publish(message);
  return message;
}

function publishSuccess(
  { asyncEnd }: CallChannels,
  message: PublishedMessage,
  result?: unknown,
): void {
  message.result = result;
  asyncEnd.publish(message);
}

function publishFailure(
  { error: failed, asyncEnd }: CallChannels,
  message: PublishedMessage,
  error: unknown,
): void {
  message.error = error;
  failed.publish(message);
  asyncEnd.publish(message);
}

/** A command that its library settles by functions of its own. */
interface SettledCommand {
  resolve: AnyFunction;
  reject: AnyFunction;
}

/** Publishes a command until it is settled. Its promise may be handled or not, as without this. */
function publishSettled(channels: CallChannels, command: SettledCommand, fields: Fields): void {
  const message = publishStart(channels, command, fields);
  if (message === undefined) return;
  const { resolve, reject } = command;
  command.resolve = function (result) {
    publishSuccess(channels, message);
    return resolve.call(this, result);
  };
  command.reject = function (error) {
    publishFailure(channels, message, error);
    return reject.call(this, error);
  };
}

/** A command of redis 3. An error that has no callback is an event of the client. */
interface CalledCommand {
  callback: AnyFunction | undefined;
}

/** Publishes a command until its callback is called, which goes on where the program called. */
function publishCalled(
  channels: CallChannels,
  client: EventEmitter,
  command: CalledCommand,
  fields: Fields,
): void {
  const message = publishStart(channels, command, fields);
  if (message === undefined) return;
  const { callback } = command;
  const own = callback === undefined ? undefined : AsyncResource.bind(callback);
  command.callback = function (...outcome) {
    const [error] = outcome;
    if (error === undefined || error === null) publishSuccess(channels, message);
    else publishFailure(channels, message, error);
    if (own !== undefined) return own.apply(this, outcome);
    if (error !== undefined && error !== null) client.emit('error', error);
    return undefined;
  };
}

/** A command of mysql2. With a callback it calls that, else it emits what it finds. */
interface QueuedCommand extends EventEmitter {
  sql?: unknown;
  onResult?: AnyFunction;
}

/** What is published of the last statement that a connection of mysql2 prepares, and of its own beginning. */
const prepared = new WeakMap<object, PublishedMessage>();
const connecting = new WeakMap<object, (error: unknown) => void>();

/** Has a message end with a command, once. */
function endWith(channels: CallChannels, command: QueuedCommand, message: PublishedMessage): void {
  const { onResult } = command;
  if (typeof onResult === 'function') {
    command.onResult = publishedCallback(channels, message, onResult);
    return;
  }
  // It emits an error only if the program listens, for otherwise that is thrown.
  command.once('end', () => {
    if ('error' in message) publishFailure(channels, message, message.error);
    else publishSuccess(channels, message);
  });
}

/** Publishes the commands of a connection of mysql2 that the program waits for. */
function publishQueued(
  queries: CallChannels,
  connection: object,
  command: QueuedCommand,
  server: Fields,
): void {
  const kind = command.constructor.name;
  if (kind === 'ClientHandshake') {
    const channels = channelsOf('mysql2:connect');
    const message = publishStart(channels, command, server);
    if (message === undefined) return;
    let isOver = false;
    const end = (error?: unknown): void => {
      connecting.delete(connection);
      if (isOver) return;
      isOver = true;
      if (error === undefined) publishSuccess(channels, message);
      else publishFailure(channels, message, error);
    };
    connecting.set(connection, end);
    command.prependOnceListener('error', end);
    command.once('end', () => {
      end();
    });
  } else if (kind === 'Query') {
    const message = publishStart(queries, command, { ...server, query: command.sql });
    if (message !== undefined) endWith(queries, command, message);
  } else if (kind === 'Prepare') {
    // Maybe for `execute`, of which the next command is the other half.
    const { onResult } = command;
    if (typeof onResult !== 'function') return;
    const message: PublishedMessage = {};
    prepared.set(connection, message);
    command.onResult = function (...outcome) {
      if (outcome[0]) message.error = outcome[0];
      return onResult.apply(this, outcome);
    };
  } else if (kind === 'Execute') {
    const of = prepared.get(connection);
    prepared.delete(connection);
    const channels = channelsOf('mysql2:execute');
    const query = command.sql;
    const message = publishStart(channels, command, { ...server, query });
    if (message === undefined) return;
    endExecution(channels, command, message, of);
  }
}

/** An execution ends without its callback if the statement could not be prepared. */
function endExecution(
  channels: CallChannels,
  command: QueuedCommand,
  message: PublishedMessage,
  ofPrepare: PublishedMessage | undefined,
): void {
  const hasCallback = typeof command.onResult === 'function';
  if (hasCallback) endWith(channels, command, message);
  command.once('end', () => {
    if (ofPrepare !== undefined && 'error' in ofPrepare) {
      publishFailure(channels, message, ofPrepare.error);
    } else if (!hasCallback) publishSuccess(channels, message);
  });
}

/** The end of waiting for a pool, by the callback that gets the connection. */
function publishedWait(channels: CallChannels, callback: unknown, fields: Fields): unknown {
  if (typeof callback !== 'function') return callback;
  const message = publishStart(channels, callback, fields);
  if (message === undefined) return callback;
  const own = publishedCallback(channels, message, callback as AnyFunction);
  // The pool may wait again with it.
  published.add(own);
  return own;
}

const NO_ARGUMENTS: readonly unknown[] = [];

/** What Fastify knows of a route. */
interface Route {
  config?: { url?: unknown } | undefined;
  handler: AnyFunction;
}

/** The route of a request, the call of whose handler is published. What finds no route has no pattern. */
function publishedRoute(
  channels: CallChannels & diagnostics.TracingChannel,
  route: Route,
  request: unknown,
): Pick<Route, 'handler'> {
  const { config, handler } = route;
  if (!channels.start.hasSubscribers || config?.url === undefined) return route;
  const message = { request, route: { url: config.url }, handler };
  const handle: AnyFunction = (...given) =>
    channels.traceSync(() => handler.apply(route, given), message);
  return { handler: handle };
}

function channelsOf(name: string): CallChannels & diagnostics.TracingChannel {
  return diagnostics.tracingChannel(name);
}

/** The tracing channel that a changed file of a library publishes on. */
export function injectedChannel(name: string): object {
  const channels = channelsOf(name);
  return {
    traceSync: channels.traceSync.bind(channels),
    call: (original: AnyFunction, self: unknown, args: ArrayLike<unknown>) =>
      publishedCall(channels, original, self, args),
    pooled: (self: unknown, handler: unknown) => {
      publishPooled(channels, self, handler);
    },
    made: (client: unknown, handler: object, Request: RequestClass, ...args: unknown[]) =>
      madeRequest(channels, client, handler, () => new Request(...args)),
    settled: (command: SettledCommand, fields: Fields) => {
      publishSettled(channels, command, fields);
    },
    called: (client: EventEmitter, command: CalledCommand, fields: Fields) => {
      publishCalled(channels, client, command, fields);
    },
    queued: (connection: object, command: QueuedCommand, server: Fields) => {
      publishQueued(channels, connection, command, server);
    },
    unconnected: (connection: object, error: unknown) => {
      connecting.get(connection)?.(error);
    },
    waited: (callback: unknown, fields: Fields) => publishedWait(channels, callback, fields),
    promised: (call: AnyFunction, fields: Fields) =>
      publishedCall(channels, call, undefined, NO_ARGUMENTS, () => fields),
    routed: (route: Route, request: unknown) => publishedRoute(channels, route, request),
    started: (call: StartableCall, fields: Fields) => publishedGrpcCall(channels, call, fields),
    emit: (emitter: EventEmitter, event: string, ...values: unknown[]) =>
      channels.traceSync(callListeners, { emitter, event }, undefined, emitter, event, values),
  };
}
