import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { watchGivenRoutes } from '../../spans/route.js';
import { Guard } from '../guard.js';
import type { RequestsInFlight } from '../threads/requests-in-flight.js';
import { subscribe } from './channels.js';
import { Connection, Exchange } from './exchange.js';
import type { ServerRecorder } from './exchange.js';
import { routeOf, watchFastifyRoutes } from './routes.js';
import { bounded } from './url-path.js';

const CONNECTION = Symbol('tracewright.connection');

type TracedSocket = Socket & { [CONNECTION]?: Connection };

/** What Node publishes on both channels of the HTTP server. */
interface ServerMessage {
  request: IncomingMessage;
  response: ServerResponse;
  socket: TracedSocket;
}

/** Bytes written to a socket so far; what a program passes for one may not count. */
function bytesWritten(socket: Socket): number {
  const written: unknown = socket.bytesWritten;
  return typeof written === 'number' ? written : 0;
}

/** The HTTP server requests of one thread. */
class ServerRequests {
  readonly #open: (() => ServerRecorder) | undefined;
  readonly #inFlight: RequestsInFlight | undefined;
  readonly #withBytes: boolean;
  readonly #guard = new Guard('HTTP requests');
  readonly #opening = new Guard('HTTP requests');
  /** Made with the first request; see SpanStream. */
  #recorder: ServerRecorder | undefined;
  readonly #whenClosed: (this: TracedSocket) => void;

  constructor(
    open: (() => ServerRecorder) | undefined,
    inFlight: RequestsInFlight | undefined,
    withBytes: boolean,
  ) {
    this.#open = open;
    this.#inFlight = inFlight;
    this.#withBytes = withBytes;
    const close = this.#guard.wrap<TracedSocket>((socket) => {
      this.#closed(socket);
    });
    this.#whenClosed = function () {
      close(this);
    };
    // Guarded in place: Guard's own function around each would be a call more for every request.
    const guard = this.#guard;
    subscribe('http.server.request.start', (message) => {
      if (!guard.on) return;
      try {
        this.#started(message as ServerMessage);
      } catch (error) {
        guard.fail(error);
      }
    });
    subscribe('http.server.response.finish', (message) => {
      if (!guard.on) return;
      try {
        this.#finished(message as ServerMessage);
      } catch (error) {
        guard.fail(error);
      }
    });
    watchGivenRoutes((request, route) => {
      if (!guard.on) return;
      try {
        this.#routed(request, route);
      } catch {
        // An object that is no request of Node's. The route is taken at the end.
      }
    });
    watchFastifyRoutes(this.#guard, (response, route) => {
      const { socket } = response.req as { socket?: TracedSocket };
      if (socket === undefined) return;
      const exchange = socket[CONNECTION]?.find(response);
      if (exchange === undefined) return;
      exchange.route = route;
      this.#recorder?.routed?.(exchange, route);
    });
  }

  #routed(request: object, given: string | undefined): void {
    // Of HTTP/2 the socket is a stand-in.
    if ('stream' in request) return;
    const { socket } = request as { socket?: TracedSocket };
    if (socket === undefined) return;
    const exchange = socket[CONNECTION]?.ofRequest(request);
    if (exchange === undefined) return;
    const route =
      given === undefined
        ? routeOf(request as IncomingMessage, exchange.url, exchange.route)
        : bounded(given);
    // A router calls several functions of one route.
    if (route !== '' && route !== exchange.keptRoute) this.#recorder?.routed?.(exchange, route);
  }

  #started({ request, response, socket }: ServerMessage): void {
    const connection = socket[CONNECTION] ?? this.#adopt(socket);
    this.#inFlight?.begin();
    const exchange = new Exchange(request, response);
    connection.add(exchange);
    if (this.#recorder === undefined && this.#open !== undefined) this.#openRecorder(this.#open);
    this.#recorder?.start(exchange, request, socket);
  }

  /** Without spans for now, requests are kept in mind all the same: others count on it. */
  #openRecorder(open: () => ServerRecorder): void {
    const guard = this.#opening;
    if (!guard.on) return;
    try {
      this.#recorder = open();
    } catch (error) {
      guard.fail(error);
    }
  }

  #adopt(socket: TracedSocket): Connection {
    const connection = new Connection(this.#withBytes ? bytesWritten(socket) : 0);
    socket[CONNECTION] = connection;
    socket.on('close', this.#whenClosed);
    return connection;
  }

  #finished({ request, response, socket }: ServerMessage): void {
    const connection = socket[CONNECTION];
    const exchange = connection?.take(response);
    if (connection === undefined || exchange === undefined) return;
    this.#inFlight?.end();
    const recorder = this.#recorder;
    if (recorder === undefined) return;
    exchange.route = routeOf(request, exchange.url, exchange.route);
    if (!this.#withBytes) {
      recorder.answered(exchange, undefined);
      return;
    }
    const written = bytesWritten(socket);
    recorder.answered(exchange, written - connection.written);
    connection.written = written;
  }

  /** What is open now will never be answered. */
  #closed(socket: TracedSocket): void {
    const connection = socket[CONNECTION];
    if (connection === undefined) return;
    for (let left = connection.oldest; left !== undefined; left = connection.oldest) {
      connection.take(left.response);
      this.#inFlight?.end();
      left.route = routeOf(left.response.req, left.url, left.route);
      this.#recorder?.aborted(left);
    }
  }
}

/**
 * Records every request that an HTTP server of this thread receives, when it ends. Upgraded connections
 * and HTTP/2 servers are not recorded.
 *
 * @param open called with the first request: how requests are recorded, if they are.
 * @param inFlight where the number of open requests goes, if anywhere.
 * @param withBytes asks for what was written to the socket. Node adds that up anew whenever it is asked,
 *   which costs more than the span itself.
 */
export function traceServerRequests(
  open: (() => ServerRecorder) | undefined,
  inFlight: RequestsInFlight | undefined,
  withBytes: boolean,
): void {
  new ServerRequests(open, inFlight, withBytes);
}
