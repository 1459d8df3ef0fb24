import { mountedRoute, routeOf } from '../spans/route.js';
import { isAnswered } from './engine/answered-errors.js';
import { isMiddleware as isMinor } from './engine/middleware.js';
import { isObject, requiredObject, text } from './engine/payload.js';
import { frameworkRouteFound } from './engine/router-matches.js';
import { markServed, servedBy } from './engine/socketless-requests.js';
import type { Library, Operation } from './library.js';

/** The message of an injected channel for a function that a request goes through. */
interface Call {
  context?: unknown;
  /** All of the request, and which of them it is. */
  handlers?: unknown;
  index?: unknown;
  /** The match of the router, if it is one function alone. */
  matched?: unknown;
  /** The value that the function returned. */
  result?: unknown;
}

interface Route {
  path?: unknown;
  /** `ALL` of middleware, and of what is mounted. */
  method?: unknown;
}

/** A function and its route, after those that the router says of its parameters. */
type Found = readonly [handlerAndRoute: readonly [handler: unknown, route?: Route], ...unknown[]];

const APPLICATION = Symbol('tracewright.application');
const ENTERED = Symbol('tracewright.entered');
const ANSWERED = Symbol('tracewright.answered');

/** A handler that may call another application, which has the rest of the path, or all of it. */
interface Wildcard {
  /** With what is before it. */
  readonly pattern: string;
  /** The path before its pattern. */
  readonly prefix: string;
  readonly path: string;
}

/** The request of Node where `@hono/node-server` serves, else that of the language. */
interface Served {
  [ENTERED]?: Wildcard;
  /** Whether a function has returned a response. The first one is the innermost. */
  [ANSWERED]?: boolean;
}

/** An application that a request goes through. */
interface Application {
  /** Undefined: it is another request that the program makes of one. */
  readonly served: Served | undefined;
  /** The path before the patterns of its routes. */
  readonly prefix: string;
  /** Whether a function for the request's method has run. */
  isRouted: boolean;
}

interface Context {
  env?: { incoming?: unknown } | null;
  req?: { path?: unknown; raw?: unknown };
  [APPLICATION]?: Application;
}

const MAX_PATTERN = 256;
const OTHER_REQUEST: Application = { served: undefined, prefix: '', isRouted: false };
const WILDCARD = /\/?\*$/;

function foundIn({ handlers, index, matched }: Call): Found | undefined {
  if (matched !== undefined) return (matched as readonly (readonly Found[])[])[0]?.[0];
  return (requiredObject(handlers, 'handlers') as readonly Found[])[index as number];
}

function applicationOf(context: Context): Application {
  let known = context[APPLICATION];
  if (known === undefined) context[APPLICATION] = known = findApplication(context);
  return known;
}

function findApplication({ env, req }: Context): Application {
  const incoming = env?.incoming;
  const raw = req?.raw;
  if (!isObject(raw)) return OTHER_REQUEST;
  if (isObject(incoming)) markServed(raw, incoming);
  const served = isObject(incoming) ? incoming : servedBy(raw);
  const above = (served as Served)[ENTERED];
  if (above === undefined) return { served, prefix: '', isRouted: false };
  const path = text(req?.path) ?? '';
  if (path === above.path) return { served, prefix: above.prefix, isRouted: false };
  if (path !== '/' && !above.path.endsWith(path)) return OTHER_REQUEST;
  return { served, prefix: above.pattern.replace(WILDCARD, ''), isRouted: false };
}

function patternOf({ path }: Route, { prefix }: Application): string | undefined {
  const own = text(path);
  return own === undefined ? undefined : mountedRoute(prefix, own).slice(0, MAX_PATTERN);
}

/** A function for any method, such as middleware. What is for one method has a route. */
function isForAll({ method }: Route): boolean {
  return method === 'ALL';
}

/** The pattern of the only route among the functions: middleware may answer before that. */
function onlyRoute({ handlers }: Call): Route | undefined {
  if (!Array.isArray(handlers)) return undefined;
  let only: Route | undefined;
  for (const [[, route]] of handlers as readonly Found[]) {
    if (route === undefined || isForAll(route) || route.path === only?.path) continue;
    if (only !== undefined) return undefined;
    only = route;
  }
  return only;
}

/** A function is about to run. */
function enter(route: Route, call: Call, context: Context): string | undefined {
  const application = applicationOf(context);
  const { served, prefix } = application;
  const pattern = patternOf(route, application);
  if (served === undefined || pattern === undefined) return pattern;
  if (!isForAll(route)) {
    application.isRouted = true;
    frameworkRouteFound(served, pattern);
    return pattern;
  }
  if (WILDCARD.test(pattern)) {
    served[ENTERED] = { pattern, prefix, path: text(context.req?.path) ?? '' };
  }
  if (call.index === 0) {
    const only = onlyRoute(call);
    const wanted = only === undefined ? undefined : patternOf(only, application);
    if (wanted !== undefined) frameworkRouteFound(served, wanted);
  }
  return pattern;
}

/** A function has returned. What answers for any method has its own pattern, unless it kept a route from being reached. */
function leave(call: Call): void {
  const context = call.context as Context;
  const application = context[APPLICATION];
  const served = application?.served;
  if (application === undefined || served === undefined || served[ANSWERED] === true) return;
  if (!(call.result instanceof Response)) return;
  served[ANSWERED] = true;
  const route = foundIn(call)?.[0][1];
  if (route === undefined || !isForAll(route)) return;
  if (!application.isRouted && routeOf(served) !== undefined) return;
  const pattern = patternOf(route, application);
  if (pattern !== undefined) frameworkRouteFound(served, pattern);
}

/** Middleware has a `next`. What a route of a method ends with has none, or need not call it. */
function isMiddleware(own: unknown, route: Route, { handlers, index }: Call): boolean {
  if (typeof own !== 'function' || own.length < 2) return false;
  if (isForAll(route)) return true;
  const next = (handlers as readonly Found[] | undefined)?.[(index as number) + 1]?.[0][1];
  return next?.path === route.path && next?.method === route.method;
}

const handler: Operation<Call> = {
  channel: 'orchestrion:hono:handler',
  kind: 'internal',
  nests: true,
  isMinor,
  isHandler: true,
  needsParent: true,
  handlesPromises: true,
  describe(call) {
    const context = requiredObject(call.context, 'context') as Context;
    // What an application within another one goes on with: it is a function of the outer one.
    const found = foundIn(call);
    const route = found?.[0][1];
    if (found === undefined || route === undefined) return undefined;
    const own = unwrapped(found[0][0]);
    const name = text((own as { name?: unknown } | undefined)?.name);
    const attributes = { 'code.function.name': name };
    const pattern = enter(route, call, context);
    const named = isMiddleware(own, route, call)
      ? `middleware ${name ?? ''}`
      : `handler ${pattern ?? ''}`;
    return { name: named.trimEnd(), attributes };
  },
  finish(_, call) {
    leave(call);
  },
  // Hono answers any other error as a failure, whatever status it has.
  isControlFlow: (error) => 'getResponse' in (error as object) && isAnswered(error),
};

/** The function of an application with an `onError` of its own lies in one of Hono's. */
function unwrapped(given: unknown): unknown {
  if (typeof given !== 'function') return given;
  for (const symbol of Object.getOwnPropertySymbols(given)) {
    const inner = (given as unknown as Record<symbol, unknown>)[symbol];
    if (symbol.description === 'composedHandler' && typeof inner === 'function') {
      return unwrapped(inner);
    }
  }
  const named = (given as { __COMPOSED_HANDLER?: unknown }).__COMPOSED_HANDLER;
  return typeof named === 'function' ? unwrapped(named) : given;
}

/** `hono`, into which the channel is injected. */
export const hono: Library = { name: 'hono', operations: [handler] };
