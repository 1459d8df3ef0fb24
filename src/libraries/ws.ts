import type { EventEmitter } from 'node:events';
import { spans } from '../spans/shared-spans.js';
import type { Span } from '../spans/span.js';
import { callerOf } from './engine/callers.js';
import { requiredObject } from './engine/payload.js';
import { frameworkRouteFound } from './engine/router-matches.js';
import type { Library, Operation } from './library.js';

/** The message of an injected channel for a server's `completeUpgrade`. */
interface Accepted {
  arguments?: unknown;
  /** The server. */
  self?: { options?: { path?: unknown } };
}

/** The message of an injected channel before the listeners of a message are called. */
interface Received {
  emitter?: unknown;
}

type Accept = (socket: object, request: unknown) => unknown;

/** The request with which a connection of a server began. */
interface Connection {
  span: Span | undefined;
  /** Its messages are those of Socket.IO, pings, and parts of others. */
  isOfEngineIo: boolean;
}

const connections = new WeakMap<object, Connection>();

function isOfEngineIo(url: unknown): boolean {
  return typeof url === 'string' && /[?&]EIO=\d/.test(url);
}

/** It is no span: that of its request lasts as long as the connection. */
const accept: Operation<Accepted> = {
  channel: 'orchestrion:ws:accept',
  kind: 'internal',
  describe: () => undefined,
  notice(call) {
    // The last are the request, its socket, the first bytes, and the function that gets the connection.
    const given = requiredObject(call.arguments, 'arguments') as unknown[];
    const accepted = given.at(-1) as Accept;
    const request = requiredObject(given.at(-4), 'request') as { url?: unknown };
    const { url } = request;
    const path = call.self?.options?.path;
    if (typeof path === 'string') frameworkRouteFound(request, path);
    const connection = {
      span: spans.activeContext()?.activeSpan,
      isOfEngineIo: isOfEngineIo(url),
    };
    given[given.length - 1] = (socket: object, request: unknown): unknown => {
      connections.set(socket, connection);
      return accepted(socket, request);
    };
  },
};

const message: Operation<Received> = {
  channel: 'orchestrion:ws:message',
  kind: 'consumer',
  nests: true,
  // Its context is that of the connection, which may last for days.
  isDetached: () => true,
  describe({ emitter }) {
    const socket = requiredObject(emitter, 'socket') as EventEmitter & { url?: unknown };
    const isEngine = connections.get(socket)?.isOfEngineIo ?? isOfEngineIo(socket.url);
    if (isEngine || socket.listenerCount('message') === 0) return undefined;
    return {
      name: 'process message',
      attributes: {
        'messaging.system': 'websocket',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
      },
    };
  },
  linkOf: ({ emitter }) =>
    connections.get(emitter as object)?.span ?? callerOf(emitter as object)?.activeSpan,
};

/** `ws`, into which the channels are injected. */
export const ws: Library = { name: 'ws', operations: [accept, message] };
