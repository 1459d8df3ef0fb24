import type { EventEmitter } from 'node:events';
import { spans } from '../spans/shared-spans.js';
import type { Span } from '../spans/span.js';
import { requiredObject, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** The message of an injected channel for a server's `onconnection`. */
interface Connected {
  arguments?: unknown;
}

/** The message of an injected channel before the listeners of an event are called. */
interface Received {
  emitter?: unknown;
  event?: unknown;
}

/** A socket of a server. */
interface Socket extends EventEmitter {
  nsp?: { name?: unknown };
  /** Engine.IO's, whatever its transport is. */
  conn?: object;
}

/** The spans of the requests that connections began with. */
const connections = new WeakMap<object, Span>();

/** It is no span: that of its request is. */
const connect: Operation<Connected> = {
  channel: 'orchestrion:socket.io:connect',
  kind: 'internal',
  describe: () => undefined,
  notice(call) {
    const [connection] = requiredObject(call.arguments, 'arguments') as readonly unknown[];
    const span = spans.activeContext()?.activeSpan;
    if (span !== undefined) connections.set(requiredObject(connection, 'connection'), span);
  },
};

const event: Operation<Received> = {
  channel: 'orchestrion:socket.io:event',
  kind: 'consumer',
  nests: true,
  // Its context is that of the connection, which may last for days.
  isDetached: () => true,
  describe({ emitter, event }) {
    const socket = requiredObject(emitter, 'socket') as Socket;
    // Callers choose the names. Those that nothing listens to may be of any number.
    const name = text(event);
    if (name === undefined || socket.listenerCount(name) === 0) return undefined;
    return {
      name: `process ${name}`,
      attributes: {
        'messaging.system': 'socket.io',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': text(socket.nsp?.name),
      },
    };
  },
  linkOf({ emitter }) {
    const { conn } = emitter as Socket;
    return conn === undefined ? undefined : connections.get(conn);
  },
};

/** Servers of `socket.io`, into which the channels are injected. */
export const socketIo: Library = { name: 'socket.io', operations: [connect, event] };
