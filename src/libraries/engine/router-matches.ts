import { shared } from '../../core/process-state.js';

/** Of a request: the match of a router that it is in. */
const INSIDE = Symbol.for('tracewright.inside');

/** Of a request that came without a socket: what a router has matched of it for good. */
const MATCHED = Symbol.for('tracewright.matched');

/** What a router has matched of a request: its pattern, below those of the routers around it. */
export class RouterMatch {
  /** The patterns, joined: `/tenant/:t/orders/:id`. Empty: one of them is unknown. */
  readonly route: string;
  readonly around: RouterMatch | undefined;

  constructor(route: string, around: RouterMatch | undefined) {
    this.route = route;
    this.around = around;
  }
}

interface MatchedRequest {
  [INSIDE]?: RouterMatch | null;
  [MATCHED]?: RouterMatch;
  httpVersionMajor?: number;
  stream?: object;
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

/** What `keepMatch` has kept. */
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
