import { routeOf, setRoute } from '../spans/route.js';
import { isAnswered } from './engine/answered-errors.js';
import { requiredObject, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** What an injected channel says of a function that a request goes through. */
interface Call {
  context?: unknown;
  /** All of the request, and which of them it is. */
  handlers?: unknown;
  index?: unknown;
  /** What the router has found, if it is one function alone. */
  matched?: unknown;
}

interface Route {
  path?: unknown;
  handler?: unknown;
}

/** A function and its route, after those that the router says of its parameters. */
type Found = readonly [handlerAndRoute: readonly [handler: unknown, route?: Route], ...unknown[]];

/** The request of Node, where `@hono/node-server` serves. */
interface Context {
  env?: { incoming?: unknown };
}

const MAX_PATTERN = 256;

function foundIn({ handlers, index, matched }: Call): Found | undefined {
  if (matched !== undefined) return (matched as readonly (readonly Found[])[])[0]?.[0];
  return (requiredObject(handlers, 'handlers') as readonly Found[])[index as number];
}

/** A function with a `next` is middleware, as Hono's own tools take it. */
function isMiddleware(handler: unknown): boolean {
  return typeof handler === 'function' && handler.length > 1;
}

const handler: Operation<Call> = {
  channel: 'orchestrion:hono:handler',
  kind: 'internal',
  nests: true,
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
    if (isMiddleware(own)) return { name: `middleware ${name ?? ''}`.trimEnd(), attributes };
    const pattern = text(route.path)?.slice(0, MAX_PATTERN);
    const request = context.env?.incoming;
    if (pattern !== undefined && typeof request === 'object' && request !== null) {
      if (routeOf(request) === undefined) setRoute(request, pattern);
    }
    return { name: `handler ${pattern ?? ''}`.trimEnd(), attributes };
  },
  // Hono answers any other error as a failure, whatever status it has.
  isAnswer: (error) => 'getResponse' in (error as object) && isAnswered(error),
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
