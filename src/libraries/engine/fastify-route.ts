import { shared } from '../../core/process-state.js';

/** Fastify's object of a route, the same for all of its requests. */
interface FastifyRoute {
  readonly config?: { readonly url?: unknown };
  readonly handler?: unknown;
}

/** Of one copy of Fastify: it documents a getter, which makes an object of a dozen properties each time. */
let key: symbol | undefined;

type Keyed = Record<symbol, FastifyRoute | undefined>;

/** The route of a request of Fastify; undefined: this version keeps it elsewhere. */
export function fastifyRoute(request: object): FastifyRoute | undefined {
  const found = key === undefined ? undefined : (request as Keyed)[key];
  return found ?? findRoute(request);
}

function findRoute(request: object): FastifyRoute | undefined {
  const symbols = Object.getOwnPropertySymbols(request);
  const own = symbols.find(({ description }) => description === 'fastify.context');
  const found = own === undefined ? undefined : (request as Keyed)[own];
  if (typeof found !== 'object' || found.config === undefined) return undefined;
  key = own;
  return found;
}

/** The name of the hook that reports routes. Fastify binds its hooks, so they are known by their names alone. */
export const ROUTE_HOOK = 'tracewrightRoute';

/** Called with the route of a request of Fastify, if the hook records requests. It never throws. */
export const fastifyRoutes = shared('libraries.fastifyRoutes', () => ({
  report: undefined as ((response: object, url: unknown) => void) | undefined,
}));
