import { shared } from '../../core/process-state.js';
import { mountedRoute, routeFound } from '../../spans/route.js';

/** Of a request: the match of a router that it is in. */
const INSIDE = Symbol.for('tracewright.inside');

/** Of a request that came without a socket: what a router has matched of it for good. */
const MATCHED = Symbol.for('tracewright.matched');

/** `express-ws` ends the path of a request that is to be upgraded with this, and the patterns of its routes. */
const UPGRADED = '/.websocket';

/** The match of a router: its pattern, below those of the routers around it. */
export class RouterMatch {
  /** The patterns, joined: `/tenant/:t/orders/:id`. Empty: one of them is unknown. */
  readonly route: string;
  readonly around: RouterMatch | undefined;
  /** Whether what it hands a request to sees the path without it. */
  readonly isMounted: boolean;

  constructor(route: string, around: RouterMatch | undefined, isMounted: boolean) {
    this.route = route.endsWith(UPGRADED) ? route.slice(0, -UPGRADED.length) || '/' : route;
    this.around = around;
    this.isMounted = isMounted;
  }
}

interface MatchedRequest {
  [INSIDE]?: RouterMatch | null;
  [MATCHED]?: RouterMatch;
  httpVersionMajor?: number;
  stream?: object;
  /** Of Express: the path that was requested, as far as it belongs to mounts. */
  baseUrl?: unknown;
}

/** Has a request be in a match from now on; null: in none, for it has left that. */
export function setInside(request: object, match: RouterMatch | null): void {
  const matched = request as MatchedRequest;
  matched[INSIDE] = match;
  // A request of HTTP/2 is made of its stream, which is what lasts.
  if (matched.httpVersionMajor === 2) (matched.stream as MatchedRequest)[INSIDE] = match;
}

/** The match that a request, or its stream, is in; null: in none any more, undefined: it never was. */
export function insideOf(request: object): RouterMatch | null | undefined {
  return (request as MatchedRequest)[INSIDE];
}

/** The patterns of the mounts that a request is in; undefined: it is in some that are unknown. */
function mountsAround(request: MatchedRequest): string | undefined {
  let match = insideOf(request);
  while (match && !match.isMounted) match = match.around;
  if (match) return match.route || undefined;
  return request.baseUrl ? undefined : '';
}

/**
 * Another framework has found the route of a request. Express may have handed it over from a mount.
 *
 * @param pattern of the path that the framework sees.
 */
export function frameworkRouteFound(request: object, pattern: string): void {
  const prefix = mountsAround(request);
  if (prefix !== undefined) routeFound(request, mountedRoute(prefix, pattern));
}

/** Whether a match is the other, or around it. */
export function isAround(match: RouterMatch, inner: RouterMatch | undefined): boolean {
  let each = inner;
  while (each !== undefined && each !== match) each = each.around;
  return each !== undefined;
}

/**
 * Whether a further match of a request is its route. It is not if the last one has failed inside of it, or was answered:
 * some functions answer and pass on nevertheless.
 */
export function isNextMatch(
  last: RouterMatch,
  match: RouterMatch,
  response: { readonly headersSent: boolean },
): boolean {
  return !response.headersSent && !isAround(match, last);
}

/** Keeps a match on its request, if nothing else has it. */
export function keepMatch(request: object, match: RouterMatch): void {
  const matched = request as MatchedRequest;
  if (!isAround(match, matched[MATCHED])) matched[MATCHED] = match;
}

/** The match that `keepMatch` has stored. */
export function matchOf(request: object): RouterMatch | undefined {
  return (request as MatchedRequest)[MATCHED];
}

/** Gets what a router has matched for good. It throws nothing. */
type Report = (request: object, match: RouterMatch) => void;

/** The parts of the register hook that record requests of HTTP/1, and of HTTP/2. */
const reports = shared('libraries.routerMatches', () => ({
  ofHttp1: undefined as Report | undefined,
  ofHttp2: undefined as Report | undefined,
}));

export function onRouterMatch(version: 1 | 2, report: Report): void {
  if (version === 1) reports.ofHttp1 = report;
  else reports.ofHttp2 = report;
}

/** Reports what a router has matched for good. */
export function reportMatch(request: object, match: RouterMatch): void {
  const isHttp2 = (request as MatchedRequest).httpVersionMajor === 2;
  (isHttp2 ? reports.ofHttp2 : reports.ofHttp1)?.(request, match);
}
