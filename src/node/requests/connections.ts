import { matchOf } from '../../libraries/engine/router-matches.js';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Guard } from '../guard.js';
import { pathOf, routeOf } from './path-and-route.js';
import type { ServerRecorder } from './server-recorder.js';

/** Events with which a connection leaves HTTP; Node publishes nothing of them. */
const EVENTS = ['upgrade', 'connect'];

type Listener = (request: IncomingMessage, socket: Socket) => void;

function isHttpServer(server: object): server is Server {
  return 'requestTimeout' in server && 'headersTimeout' in server;
}

/**
 * Records what leaves HTTP (WebSocket, CONNECT) as spans that end with their connection. Node treats a server that
 * listens for such requests in another way, so this listens only while the program does, and before it.
 */
export function traceConnections(recorder: ServerRecorder): void {
  const guard = new Guard('upgraded connections');
  const begin = guard.wrap<[IncomingMessage, Socket]>(([request, socket]) => {
    const served = recorder.startConnection(request, socket);
    const end = guard.wrap<boolean>((isAborted) => {
      // A framework may have handed the connection to a route.
      served.route = routeOf(request, matchOf(request), '', pathOf(request.url ?? ''));
      recorder.end(served, undefined, undefined, isAborted);
    });
    socket.once('close', end);
  });
  const watched = new WeakSet<Server>();

  const watch = (server: Server): void => {
    if (watched.has(server)) return;
    watched.add(server);
    for (const event of EVENTS) watchEvent(server, event);
  };
  const watchEvent = (server: Server, event: string): void => {
    const observe: Listener = (request, socket) => {
      begin([request, socket]);
    };
    let isListening = false;
    const listen = (): void => {
      isListening = true;
      server.prependListener(event, observe);
    };
    if (server.listenerCount(event) > 0) listen();
    server.on('newListener', (name: string | symbol) => {
      if (name === event && !isListening) listen();
    });
    server.on('removeListener', (name: string | symbol) => {
      if (name !== event || !isListening || server.listenerCount(event) > 1) return;
      isListening = false;
      server.removeListener(event, observe);
    });
  };
  guard.subscribe('tracing:net.server.listen:asyncStart', ({ server }: { server: object }) => {
    if (isHttpServer(server)) watch(server);
  });
}
