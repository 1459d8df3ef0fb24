import type { IncomingMessage, ServerResponse } from 'node:http';
import { routeOf as givenRoute } from '../../spans/route.js';
import type { Guard } from '../guard.js';
import { bounded, pathOf } from './url-path.js';

/** What a router leaves on the request (express and its like). */
interface RoutedRequest {
  baseUrl?: unknown;
  route?: { path?: unknown };
}

/** A route whose segments are those of the path, one by one: without wildcards and optional parts. */
const PLAIN = /^[^*+?(){}[\]]*$/;

const SLASH = 0x2f;

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function slashesIn(path: string): number {
  let slashes = 0;
  for (let i = 0; i < path.length; i++) if (path.charCodeAt(i) === SLASH) slashes++;
  return slashes;
}

/**
 * The part of a path before that which a route matches; empty if the route does not fit the path's end.
 * express restores `baseUrl` when a router hands an error on.
 */
function baseOf(path: string, route: string): string {
  // Most routes are of the program itself, and lack nothing.
  if (slashesIn(path) <= slashesIn(route) && route !== '/') return '';
  if (!PLAIN.test(route)) return '';
  const segments = segmentsOf(path);
  const own = segmentsOf(route);
  const first = segments.length - own.length;
  const fits = own.every((part, i) => part.includes(':') || part === segments[first + i]);
  return first > 0 && fits ? `/${segments.slice(0, first).join('/')}` : '';
}

/** Where Next.js keeps what it knows of a request. */
const NEXT = Symbol.for('NextInternalRequestMeta');

/** The page or the handler of Next.js that a request went to: `/users/[id]`. */
function routeOfNext(request: object): unknown {
  const meta = (request as { [NEXT]?: { match?: { definition?: { pathname?: unknown } } } })[NEXT];
  return meta?.match?.definition?.pathname;
}

/**
 * The pattern that a request has matched: as `setRoute` was given it, or as a router (express and its like,
 * Next.js) reports it; empty if there is none.
 *
 * @param url of the request when it came: frameworks rewrite the request's own.
 * @param reported what a framework has reported already; empty: nothing.
 */
export function routeOf(
  request: IncomingMessage & RoutedRequest,
  url: string,
  reported: string,
): string {
  const given = givenRoute(request);
  if (given !== undefined) return bounded(given);
  if (reported !== '') return reported;
  const path = request.route?.path;
  if (typeof path !== 'string') {
    const page = routeOfNext(request);
    return typeof page === 'string' ? bounded(page) : '';
  }
  const { baseUrl } = request;
  if (typeof baseUrl !== 'string') return bounded(path);
  return bounded((baseUrl === '' ? baseOf(pathOf(url), path) : pathOf(baseUrl)) + path);
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

/** What Fastify publishes for instrumentations to add their hooks. */
interface FastifyInstance {
  fastify?: { addHook?: (name: string, hook: Hook) => void };
}

/**
 * Reports the route of every request of Fastify. The hook runs before any of the program's, so what
 * those or the validation refuse has a route too.
 */
export function watchFastifyRoutes(
  guard: Guard,
  report: (response: ServerResponse, route: string) => void,
): void {
  const observe = guard.wrap<[FastifyRequest, FastifyReply]>(([request, reply]) => {
    const { routeOptions } = request;
    // A path without a route has options without one. Reading `routerPath` makes Fastify 4 print a warning.
    const url = routeOptions === undefined ? request.routerPath : routeOptions.url;
    if (typeof url === 'string' && reply.raw !== undefined) report(reply.raw, bounded(url));
  });
  guard.subscribe('fastify.initialization', ({ fastify }: FastifyInstance) => {
    fastify?.addHook?.('onRequest', (request, reply, done) => {
      observe([request, reply]);
      done();
    });
  });
}
