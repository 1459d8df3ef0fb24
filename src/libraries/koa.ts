import { routeOf, setRoute } from '../spans/route.js';
import { isAnswered } from './engine/answered-errors.js';
import { requiredObject, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** What an injected channel says of a function that a request goes through. */
interface Call {
  context?: unknown;
  handler?: unknown;
}

/** What `@koa/router` and its like keep of a route. */
interface Layer {
  path?: unknown;
  methods?: unknown;
  stack?: unknown;
}

interface Context {
  req?: object;
  app?: { middleware?: unknown };
  /** Of the router: the layers whose path has matched. */
  matched?: unknown;
}

const MAX_PATTERN = 256;

/** The layer of a router that a function belongs to. */
function layerOf(handler: unknown, { matched }: Context): Layer | undefined {
  if (!Array.isArray(matched)) return undefined;
  return (matched as Layer[]).find(
    ({ stack }) => Array.isArray(stack) && (stack as unknown[]).includes(handler),
  );
}

/** The pattern of a route; undefined for middleware of a router. */
function patternOf({ path, methods }: Layer): string | undefined {
  if (!Array.isArray(methods) || methods.length === 0) return undefined;
  return typeof path === 'string' || path instanceof RegExp
    ? String(path).slice(0, MAX_PATTERN)
    : undefined;
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
  needsParent: true,
  handlesPromises: true,
  describe(call) {
    const handler = requiredObject(call.handler, 'handler');
    const context = requiredObject(call.context, 'context') as Context;
    const name = text((handler as { name?: unknown }).name);
    const attributes = { 'code.function.name': name };
    const layer = layerOf(handler, context);
    if (layer === undefined && isInner(handler, name, context)) return undefined;
    const pattern = layer === undefined ? undefined : patternOf(layer);
    if (pattern === undefined) return { name: `middleware ${name ?? ''}`.trimEnd(), attributes };
    const { req } = context;
    if (req !== undefined && routeOf(req) === undefined) setRoute(req, pattern);
    return { name: `handler ${pattern}`, attributes };
  },
  isAnswer: isAnswered,
};

/** `koa` and its routers, into whose `koa-compose` the channel is injected. */
export const koa: Library = { name: 'koa', operations: [middleware] };
