import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import * as names from './engine/conventions.js';
import { requiredObject, UnknownPayload } from './engine/payload.js';
import type { Announcement, FollowedSpan, Library } from './library.js';

interface Message {
  socket?: unknown;
}

type Connecting = Socket & { encrypted?: unknown };

/** A name that is looked up begins with the connection, and ends with the event of the socket. */
function followLookup(socket: Socket, span: FollowedSpan): void {
  let isOver = false;
  span.on(socket, 'lookup', (error, _address, _family, host) => {
    // One event for each address.
    if (isOver) return;
    isOver = true;
    if (typeof host !== 'string') return;
    span.set(names.ADDRESS, host);
    const lookup = span.part('dns lookup', { 'dns.question.name': host }, 'with it');
    lookup.end(error === null || error === undefined ? undefined : { error });
  });
}

/** A connection of a socket that the program opens, until it can be used. */
const connection: Announcement<Message> = {
  channel: 'net.client.socket',
  kind: 'internal',
  needsParent: true,
  describe(message) {
    const socket = requiredObject(message.socket, 'socket') as { on?: unknown };
    if (typeof socket.on !== 'function') throw new UnknownPayload('socket');
    return { name: 'connect', attributes: {} };
  },
  follow(message, span) {
    const socket = message.socket as Connecting;
    followLookup(socket, span);
    span.on(socket, 'connect', () => {
      const { remoteAddress, remotePort } = socket;
      span.set(names.TRANSPORT, remoteAddress === undefined ? 'unix' : 'tcp');
      span.set(names.PEER_ADDRESS, remoteAddress);
      span.set(names.PEER_PORT, remotePort);
      if (socket.encrypted === true) span.part('tls handshake', {}, 'now');
      else span.end();
    });
    span.on(socket, 'secureConnect', () => {
      span.end();
    });
    span.on(socket, errorMonitor, (error) => {
      span.end({ error });
    });
    span.on(socket, 'close', () => {
      span.end({ error: { code: 'closed' } });
    });
  },
};

export const net: Library = { name: 'net', operations: [], announcements: [connection] };
