import { keepMount } from '../engine/middleware.js';
import { insideOf, reportMatch, RouterMatch, setInside } from '../engine/router-matches.js';
import type { ChangedText } from './injected-file.js';

/** A layer that matches whatever follows is mostly a middleware, which passes the request on. */
const OPEN_END = /\*\w*\}?$|\(\.\*\)$/;
const ENDING_SLASHES = /\/+$/;

/** Of a layer of a router: the pattern that it was made with, or the list of them. */
const PATTERN = Symbol('tracewright.pattern');

/** A pattern of a layer, and what it is below the routers around it. */
class Pattern {
  /** Whether it is the route only of what it does not pass on: what is mounted, and what has an open end. */
  readonly isOpen: boolean;
  /** Undefined: it is unknown. */
  readonly #text: string | undefined;
  readonly #isMounted: boolean;
  readonly #isRegExp: boolean;
  #last: RouterMatch | undefined = undefined;

  constructor(path: unknown, isMounted: boolean) {
    this.#isRegExp = path instanceof RegExp;
    const text = typeof path === 'string' || this.#isRegExp ? String(path) : undefined;
    this.#isMounted = isMounted;
    this.isOpen = isMounted || typeof path !== 'string' || OPEN_END.test(path);
    this.#text = isMounted && !this.#isRegExp ? text?.replace(ENDING_SLASHES, '') : text;
  }

  below(around: RouterMatch | undefined): RouterMatch {
    const last = this.#last;
    // The routers around a layer are mostly the same.
    if (last !== undefined && last.around === around) return last;
    const made = new RouterMatch(this.#routeBelow(around?.route), around, this.#isMounted);
    this.#last = made;
    return made;
  }

  #routeBelow(base: string | undefined): string {
    const text = this.#text;
    if (base === '' || text === undefined) return '';
    if (text === '' || text === '/') return base ?? '/';
    if (base === undefined) return text;
    if (base.endsWith('/') && text.startsWith('/')) return base + text.slice(1);
    return this.#isRegExp || /^[/{(]/.test(text) ? base + text : `${base}/${text}`;
  }
}

const UNKNOWN = new Pattern(undefined, true);

/** One pattern of a layer that has several. */
interface Alternative {
  readonly pattern: Pattern;
  /** Undefined: the router's own function is asked. */
  readonly matches: ((path: string) => unknown) | undefined;
}

/** A layer of a router: a route, or what is mounted. */
interface Layer {
  [PATTERN]?: Pattern | Alternative[];
  /** Of the package `router`: a function for each pattern. */
  matchers?: readonly ((path: string) => unknown)[];
}

/**
 * Keeps the pattern of a layer that is being made.
 *
 * @param compile makes the regular expression of one of several patterns.
 */
function made(
  layer: Layer,
  path: unknown,
  isMounted: boolean,
  compile?: (path: unknown) => RegExp,
): Layer {
  try {
    let value: Layer[typeof PATTERN];
    if (Array.isArray(path)) {
      value = path.flat(Infinity).map((each: unknown) => {
        const regexp = compile?.(each);
        const matches = regexp && ((tried: string) => regexp.exec(tried));
        return { pattern: new Pattern(each, isMounted), matches };
      });
    } else {
      value = new Pattern(path, isMounted);
    }
    Object.defineProperty(layer, PATTERN, { value });
    if (isMounted) keepMount(layer, path);
  } catch {
    // What it matches has no route.
  }
  return layer;
}

/** The pattern of a layer that has matched a path. */
function patternOf(layer: Layer, path: string): Pattern {
  const kept = layer[PATTERN];
  if (kept === undefined) return UNKNOWN;
  if (!Array.isArray(kept)) return kept;
  const { matchers } = layer;
  if (matchers !== undefined && matchers.length !== kept.length) return UNKNOWN;
  const found = kept.find(({ matches }, i) => (matches ?? matchers![i]!)(path));
  return found?.pattern ?? UNKNOWN;
}

interface Response {
  readonly headersSent?: boolean;
}

/**
 * A layer that is no middleware of all paths has matched.
 *
 * @param path what it was compared with.
 * @param error what is handed on: only functions for errors get it, and they are no route.
 * @returns what the request is in until the router goes on; undefined: nothing that matters then.
 */
function matched(
  layer: Layer,
  request: object,
  response: Response,
  path: string,
  error: unknown,
): RouterMatch | undefined {
  if (error) return undefined;
  try {
    const pattern = patternOf(layer, path);
    const match = pattern.below(insideOf(request) ?? undefined);
    if (!pattern.isOpen) {
      reportMatch(request, match);
    } else if (response.headersSent !== true) {
      setInside(request, match);
      return match;
    }
  } catch {
    // The request has no route.
  }
  return undefined;
}

/** A router goes on. What has failed, or was answered, is the route; what only passes on is none. */
function left(match: RouterMatch, request: object, response: Response, error: unknown): undefined {
  try {
    setInside(request, match.around ?? null);
    const hasFailed = Boolean(error) && error !== 'router';
    if (hasFailed || response.headersSent === true) reportMatch(request, match);
  } catch {
    // The request has no route.
  }
  return undefined;
}

/** Functions for the changed texts. They never throw. */
export const patternCalls = { made, matched, left };

/** In a router's dispatch of a request: what the request is in. */
const ENTERED = '$tracewright_entered';

/**
 * The texts of a router's dispatch of a request.
 *
 * @param channel of the library. Nothing is published on it for this.
 * @param from the text before which a layer has matched.
 * @param counts whether a layer is no middleware of all paths, as an expression.
 * @param values the expressions of the layer, of the path, and of what is handed on.
 */
export function dispatchTexts(
  channel: string,
  from: string,
  counts: string,
  [layer, path, error]: readonly [layer: string, path: string, error: string],
): readonly ChangedText[] {
  return [
    { channel, isOfRoutes: true, from: /\b(?:let|var) removed = ''/, to: `$match, ${ENTERED}` },
    {
      channel,
      isOfRoutes: true,
      from: 'if (removed.length !== 0) {',
      to: `if (${ENTERED} !== void 0) ${ENTERED} = $channel.left(${ENTERED}, req, res, ${error}); $match`,
    },
    {
      channel,
      isOfRoutes: true,
      from,
      to: `if (${counts}) ${ENTERED} = $channel.matched(${layer}, req, res, ${path}, ${error}); $match`,
    },
  ];
}
