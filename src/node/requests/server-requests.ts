import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { fastifyRoute, fastifyRoutes, ROUTE_HOOK } from '../../libraries/engine/fastify-route.js';
import {
  frameworkRouteFound,
  insideOf,
  isNextMatch,
  keepMatch,
  onRouterMatch,
} from '../../libraries/engine/router-matches.js';
import { watchGivenRoutes } from '../../spans/route.js';
import { saidRoute, watchSpanRoutes } from '../../spans/said-route.js';
import { Guard } from '../guard.js';
import type { RequestsInFlight } from '../threads/requests-in-flight.js';
import { subscribe } from './channels.js';
import { CONNECTION, Connection, Exchange } from './exchange.js';
import type { ServerMessage, TracedSocket } from './exchange.js';
import type { ServerRecorder } from './server-recorder.js';
import { bounded, pathOf, routeOf } from './path-and-route.js';

/** Bytes written to a socket so far; what a program passes for one may not count. */
function bytesWritten(socket: Socket): number {
  const written: unknown = socket.bytesWritten;
  return typeof written === 'number' ? written : 0;
}

/** A request that is not recorded: what its connection receives is of none that is. */
function forget({ socket }: ServerMessage): void {
  const connection = socket[CONNECTION];
  if (connection !== undefined) connection.received = undefined;
}

/** The open exchange of a request. What a program passes for one may have no socket. */
function exchangeOf(request: object): Exchange | undefined {
  const { socket } = request as { socket?: TracedSocket };
  return socket === undefined ? undefined : socket[CONNECTION]?.ofRequest(request);
}

/** The route of a request that ends. */
function routeAtEnd(exchange: Exchange, request: IncomingMessage): string {
  const { matched, route, path, span } = exchange;
  const said = saidRoute(span);
  // It is in the record of the open request.
  if (exchange.keptRoute === '') exchange.keptRoute = bounded(said);
  return routeOf(request, matched, route, path, said);
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

interface FastifyRequest {
  routeOptions?: { url?: unknown };
  /** Before Fastify 4.10. */
  routerPath?: unknown;
}

interface FastifyReply {
  raw?: ServerResponse;
}

/** The instance that Fastify publishes, to which instrumentations add their hooks. */
interface FastifyInstance {
  fastify?: { addHook?: (name: string, hook: Hook) => void };
}

function urlOf(request: FastifyRequest): unknown {
  const route = fastifyRoute(request);
  if (route !== undefined) return route.config?.url;
  const { routeOptions } = request;
  // A path without a route has options without one. Reading `routerPath` makes Fastify 4 print a warning.
  return routeOptions === undefined ? request.routerPath : routeOptions.url;
}

/**
 * Reports the route of every request of Fastify. The hook runs before any of the program's, so what
 * those or the validation refuse has a route too.
 */
function watchFastifyRoutes(
  guard: Guard,
  report: (response: ServerResponse, route: string) => void,
): void {
  const observe = (response: ServerResponse | undefined, url: unknown): void => {
    if (!guard.on) return;
    try {
      if (typeof url === 'string' && response !== undefined) report(response, bounded(url));
    } catch (error) {
      guard.fail(error);
    }
  };
  fastifyRoutes.report = observe as (response: object, url: unknown) => void;
  const hook: Hook = (request, { raw }, done) => {
    try {
      if (guard.on) observe(raw, urlOf(request));
    } catch (error) {
      guard.fail(error);
    }
    done();
  };
  Object.defineProperty(hook, 'name', { value: ROUTE_HOOK });
  guard.subscribe('fastify.initialization', ({ fastify }: FastifyInstance) => {
    fastify?.addHook?.('onRequest', hook);
  });
}

/**
 * Records every request of HTTP/1 that a server of this thread receives, when it ends.
 *
 * @param recorder undefined: they are only counted.
 * @param inFlight where the number of open requests goes, if anywhere.
 * @param withBytes asks for what was written to the socket. Node adds that up anew whenever it is asked,
 *   which costs more than the span itself.
 */
export function traceServerRequests(
  recorder: ServerRecorder | undefined,
  inFlight: RequestsInFlight | undefined,
  withBytes: boolean,
): void {
  // Variables of this function are constants to V8, unlike fields of an object.
  const guard = new Guard('HTTP requests');
  const context = recorder?.context;

  /** Requests that are open now will never be answered. */
  const close = guard.wrap<TracedSocket>((socket) => {
    const connection = socket[CONNECTION];
    if (connection === undefined) return;
    for (let left = connection.oldest; left !== undefined; left = connection.oldest) {
      connection.take(left.response);
      inFlight?.end();
      const { response } = left;
      left.route = routeAtEnd(left, response.req);
      const status = response.headersSent ? response.statusCode : undefined;
      recorder?.end(left, status, undefined, true);
      if (left.span !== undefined) context?.abort(left.span, response.req, response);
    }
  });
  function whenClosed(this: TracedSocket): void {
    close(this);
  }
  const adopt = (socket: TracedSocket): Connection => {
    const connection = new Connection(withBytes ? bytesWritten(socket) : 0);
    socket[CONNECTION] = connection;
    // Before Node's own listener, which aborts what is open.
    socket.prependListener('close', whenClosed);
    context?.adopt(socket);
    return connection;
  };

  // Guarded here: a function of Guard's around each would be a call more for every request.
  subscribe('http.server.request.start', (message) => {
    if (guard.on !== true) {
      forget(message as ServerMessage);
      return;
    }
    try {
      const { request, response, socket } = message as ServerMessage;
      const connection = socket[CONNECTION] ?? adopt(socket);
      inFlight?.begin();
      const exchange = new Exchange(request, response);
      const isWaiting = connection.oldest !== undefined;
      connection.add(exchange);
      if (recorder === undefined) return;
      const path = pathOf(request.url ?? '');
      exchange.path = path;
      const span = recorder.start(exchange.method, path, request, socket);
      exchange.span = span;
      if (context === undefined) return;
      connection.received = span;
      if (isWaiting) context.wait(span, response);
    } catch (error) {
      guard.fail(error);
    }
  });
  subscribe('http.server.response.finish', (message) => {
    if (guard.on !== true) return;
    try {
      const { request, response, socket } = message as ServerMessage;
      const connection = socket[CONNECTION];
      const exchange = connection?.take(response);
      if (connection === undefined || exchange === undefined) return;
      inFlight?.end();
      if (recorder === undefined) return;
      // Of no use to a request that is not recorded.
      const { span } = exchange;
      if (span?.recording === true) {
        exchange.route = routeAtEnd(exchange, request);
      }
      const { statusCode } = response;
      let bytes: number | undefined;
      if (withBytes) {
        const written = bytesWritten(socket);
        bytes = written - connection.written;
        connection.written = written;
      }
      recorder.end(exchange, statusCode, bytes, false);
      if (context !== undefined && span !== undefined) context.finish(span);
    } catch (error) {
      guard.fail(error);
    }
  });
  if (recorder !== undefined) watchRoutes(guard, recorder);
}

/** Has the requests get the routes that frameworks and the program report. */
function watchRoutes(guard: Guard, recorder: ServerRecorder): void {
  watchGivenRoutes((request, given) => {
    if (guard.on !== true) return;
    try {
      // Of HTTP/2 the socket is a stand-in.
      if ((request as Partial<IncomingMessage>).httpVersionMajor === 2) return;
      const exchange = exchangeOf(request);
      if (exchange === undefined) return;
      exchange.isGiven = true;
      recorder.routed(exchange, bounded(given));
    } catch {
      // An object that is no request of Node's. The route is taken at the end.
    }
  });
  watchSpanRoutes((span, route) => {
    if (guard.on !== true) return;
    const [method = ''] = span.name.split(' ', 1);
    recorder.routed({ method, span, route: '', keptRoute: '', matched: undefined }, bounded(route));
  });
  onRouterMatch(1, (request, match) => {
    if (guard.on !== true) return;
    try {
      const exchange = exchangeOf(request);
      if (exchange === undefined) {
        // Handed to the application by the program.
        keepMatch(request, match);
        return;
      }
      if (exchange.isGiven) return;
      const { matched, response } = exchange;
      if (matched !== undefined && !isNextMatch(matched, match, response)) return;
      exchange.matched = match;
      recorder.routed(exchange, bounded(match.route));
    } catch {
      // An object that is no request of Node's.
    }
  });
  watchFastifyRoutes(guard, (response, route) => {
    const exchange = exchangeOf(response.req);
    if (exchange === undefined || insideOf(response.req)) {
      // Of HTTP/2, or handed to the application by the program or by Express.
      frameworkRouteFound(response.req, route);
      return;
    }
    exchange.route = route;
    recorder.routed(exchange, route);
  });
}
