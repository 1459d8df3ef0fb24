import { BoundedCache } from '../core/bounded-cache.js';
import { isCallersFault, statusOf } from './engine/answered-errors.js';
import { fastifyRoute } from './engine/fastify-route.js';
import { text } from './engine/payload.js';
import { frameworkRouteFound } from './engine/router-matches.js';
import type { Description, Library, Operation } from './library.js';

interface Handling {
  /** Of the earlier versions, into which the channel is injected. */
  handler?: unknown;
  route?: { url?: unknown };
  /** Whether the handler has returned a promise. */
  async?: unknown;
  request?: { raw?: object; routeOptions?: { handler?: unknown } };
  reply?: { statusCode?: unknown };
}

/** Descriptions of routes that were asked for. */
const kept = new WeakMap<object, Description>();

const MAX_PATTERN = 256;
/** Routes for which the name of the span is kept. */
const KEPT = 256;
const names = new BoundedCache(
  KEPT,
  MAX_PATTERN,
  (pattern) => `handler ${pattern.slice(0, MAX_PATTERN)}`,
);
const BOUND = 'bound ';
/** Of an error; Fastify ignores others. */
const LEAST_STATUS = 400;

function describe({ route, request, handler: given }: Handling): Description {
  const pattern = text(route?.url);
  const { name } = (given ?? request?.routeOptions?.handler ?? {}) as { name?: unknown };
  const ownName = text(name);
  return {
    name: pattern === undefined ? 'handler' : names.of(pattern),
    attributes: {
      'code.function.name':
        ownName?.startsWith(BOUND) === true ? ownName.slice(BOUND.length) : ownName,
    },
  };
}

/** Versions before 3.29 publish no instance that the hook could ask for the route. */
function reportRoute({ route, request, handler: given }: Handling): void {
  const pattern = text(route?.url);
  const raw = given === undefined ? undefined : request?.raw;
  if (pattern !== undefined && raw !== undefined) frameworkRouteFound(raw, pattern);
}

/** The handler of a route, without the hooks before and after it. */
const handler: Operation<Handling> = {
  channel: 'fastify.request.handler',
  kind: 'internal',
  nests: true,
  isHandler: true,
  // A store that is bound to the channel would be entered and left by a copy of all stores.
  entersByHand: true,
  needsParent: true,
  asksOnce: true,
  // Fastify handles what a handler returns.
  handlesPromises: true,
  describe(message) {
    const { request } = message;
    const route = request === undefined ? undefined : fastifyRoute(request);
    if (route === undefined) {
      reportRoute(message);
      return describe(message);
    }
    let description = kept.get(route);
    if (description === undefined) {
      description = describe(message);
      description.kept = { prefix: undefined };
      kept.set(route, description);
    }
    return description;
  },
  isDone: (message) => message.async !== true,
  // An error without a status gets the one that the handler has set before.
  isControlFlow(error, { reply }) {
    const status = statusOf(error, 'statusCode', 'status');
    return isCallersFault(status < LEAST_STATUS ? statusOf(reply, 'statusCode') : status);
  },
};

export const fastify: Library = { name: 'fastify', operations: [handler] };
