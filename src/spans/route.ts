import { wrongType } from '../core/errors.js';
import { shared } from '../core/process-state.js';

/** Of a request: what `setRoute` was given for it, else what a router has said. */
export const ROUTE = Symbol.for('tracewright.route');
/** Of a request for which the program has called `setRoute`. */
const GIVEN = Symbol.for('tracewright.givenRoute');

export interface GivenRoute {
  [ROUTE]?: string;
  [GIVEN]?: boolean;
}

type Given = (request: object, route: string) => void;

/** They get each route at once: parts of the register hook. All copies of the package share the list. */
const watchers = shared<Given[]>('spans.route', () => []);

/** Calls `given` with each route that the program names for a request. It throws nothing. */
export function watchGivenRoutes(given: Given): void {
  watchers.push(given);
}

/**
 * Says which route of the program a request matched, for routers that do not say so themselves. The span of
 * the request gets it as `http.route`, and in its name.
 *
 * @param request as the HTTP server has passed it.
 * @param route the pattern, such as `/users/:id`.
 * @throws TracewrightError for an argument of the wrong type.
 */
export function setRoute(request: object, route: string): void {
  const given: unknown = request;
  if (typeof given !== 'object' || given === null) {
    throw wrongType('request', given, 'a request of an HTTP server');
  }
  if (typeof route !== 'string') throw wrongType('route', route, 'a string');
  (request as GivenRoute)[GIVEN] = true;
  keepRoute(request, route);
}

/** The last one that a router of a library says. What the program has set is more. */
export function routeFound(request: object, route: string): void {
  const { [ROUTE]: known, [GIVEN]: isGiven } = request as GivenRoute;
  if (isGiven !== true && known !== route) keepRoute(request, route);
}

function keepRoute(request: object, route: string): void {
  (request as GivenRoute)[ROUTE] = route;
  // A request of HTTP/2 is made of its stream, which is what lasts.
  const { stream } = request as { stream?: unknown };
  if (typeof stream === 'object' && stream !== null) (stream as GivenRoute)[ROUTE] = route;
  for (const given of watchers) given(request, route);
}

const ERROR_PAGE = /^\/(?:_error|_not-found|404|500)$/;

/** Whether a page of Next.js is what it shows in place of the one that a request asked for. */
export function isErrorPage(page: string): boolean {
  return ERROR_PAGE.test(page);
}

/** A pattern of what is mounted at a prefix. The root of that adds nothing. */
export function mountedRoute(prefix: string, pattern: string): string {
  return prefix !== '' && pattern === '/' ? prefix : prefix + pattern;
}

/** The route that was given for a request; undefined: none. */
export function routeOf(request: object): string | undefined {
  return (request as GivenRoute)[ROUTE];
}
