import { isAnswered } from './engine/answered-errors.js';
import { mountedPattern } from './engine/koa-mounts.js';
import { isMiddleware, middlewareName } from './engine/middleware.js';
import { requiredObject, text } from './engine/payload.js';
import { frameworkRouteFound } from './engine/router-matches.js';
import type { Library, Operation } from './library.js';

/** The message of an injected channel for a function that a request goes through. */
interface Call {
  context?: unknown;
  handler?: unknown;
}

/** The object of a route of `@koa/router` and its like. */
interface Layer {
  path?: unknown;
  methods?: unknown;
  stack?: unknown;
}

interface Context {
  req?: object;
  method?: unknown;
  path?: unknown;
  originalUrl?: unknown;
  app?: { middleware?: unknown };
  /** Of the router: the layers whose path has matched. */
  matched?: unknown;
  /** The path of the layer whose functions run; before `@koa/router` 10 of the last one that has matched. */
  _matchedRoute?: unknown;
}

const MAX_PATTERN = 256;

/** The layer of a router that a function belongs to. */
function layerOf(handler: unknown, { matched, _matchedRoute }: Context): Layer | undefined {
  if (!Array.isArray(matched)) return undefined;
  let found: Layer | undefined;
  for (const layer of matched as Layer[]) {
    const { stack } = layer;
    if (!Array.isArray(stack) || !(stack as unknown[]).includes(handler)) continue;
    // Layers may share a function.
    if (layer.path === _matchedRoute) return layer;
    found ??= layer;
  }
  return found;
}

/** The pattern of a route; undefined for middleware of a router. */
function patternOf({ path, methods }: Layer, context: Context): string | undefined {
  if (!Array.isArray(methods) || methods.length === 0) return undefined;
  if (typeof path !== 'string' && !(path instanceof RegExp)) return undefined;
  return mountedPattern(context, String(path)).slice(0, MAX_PATTERN);
}

/** The end that a router adds to the path of a middleware, which is for all paths below that. */
const BELOW = /(?:\(\.\*\)|\(\[\^\/\]\*\)|\{\/\*\w+\}|\/?\*\w*)$/;

/** The path of a middleware of a router; undefined: it is for all paths. */
function mountOf({ path }: Layer, context: Context): string | undefined {
  if (typeof path !== 'string') return undefined;
  const own = path.replace(BELOW, '').replace(/\/$/, '');
  return own === '' ? undefined : mountedPattern(context, own).slice(0, MAX_PATTERN);
}

/** The pattern of the only route that a router has found: its middleware may answer before that. */
function onlyPattern(context: Context): string | undefined {
  const routes = (context.matched as Layer[]).filter(
    ({ methods }) => Array.isArray(methods) && methods.includes(context.method),
  );
  return routes.length === 1 ? patternOf(routes[0]!, context) : undefined;
}

function isOfApplication(handler: unknown, { app }: Context): boolean {
  return Array.isArray(app?.middleware) && (app.middleware as unknown[]).includes(handler);
}

/** A router, which calls its own functions, or what one calls before those of a route. */
function isInner(handler: object, name: string | undefined, context: Context): boolean {
  if ('router' in handler || name === 'bound dispatch') return true;
  return name === undefined && !isOfApplication(handler, context);
}

const middleware: Operation<Call> = {
  channel: 'orchestrion:koa-compose:middleware',
  kind: 'internal',
  nests: true,
  isMinor: isMiddleware,
  isHandler: true,
  needsParent: true,
  handlesPromises: true,
  describe(call) {
    const handler = requiredObject(call.handler, 'handler');
    const context = requiredObject(call.context, 'context') as Context;
    const name = text((handler as { name?: unknown }).name);
    const attributes = { 'code.function.name': name };
    const layer = layerOf(handler, context);
    if (layer === undefined && isInner(handler, name, context)) return undefined;
    const pattern = layer === undefined ? undefined : patternOf(layer, context);
    const route = layer === undefined ? undefined : (pattern ?? onlyPattern(context));
    const { req } = context;
    // A function that calls `next` is followed by that of another route, which answers.
    if (req !== undefined && route !== undefined) frameworkRouteFound(req, route);
    const own = name ?? (layer === undefined ? undefined : mountOf(layer, context));
    return {
      name: pattern === undefined ? middlewareName(own, undefined) : `handler ${pattern}`,
      attributes,
    };
  },
  isControlFlow: isAnswered,
};

/** `koa` and its routers, into whose `koa-compose` the channel is injected. */
export const koa: Library = { name: 'koa', operations: [middleware] };
