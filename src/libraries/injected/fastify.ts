import { fastifyRoutes, ROUTE_HOOK } from '../engine/fastify-route.js';
import type { AnyFunction } from '../engine/published-calls.js';
import { PUBLISHES } from './injected-file.js';
import type { Injection } from './injected-file.js';
import type { TracedChannels } from './published-starts.js';

/** Fastify's options of a route. */
interface Route {
  config?: { url?: unknown } | undefined;
  handler: AnyFunction;
}

/** The route of a request, the call of whose handler is published. What finds no route has no pattern. */
function publishedRoute(
  channels: TracedChannels,
  route: Route,
  request: unknown,
): Pick<Route, 'handler'> {
  const { config, handler } = route;
  if (!channels.start.hasSubscribers || config?.url === undefined) return route;
  const message = { request, route: { url: config.url }, handler };
  const handle: AnyFunction = (...given) =>
    channels.traceSync(() => handler.apply(route, given), message);
  return { handler: handle };
}

/** The part of a route that says which hooks its requests have. */
interface HookedRoute extends Pick<Route, 'config'> {
  onRequest: readonly AnyFunction[] | null;
}

/** Whether the hook that reports routes is the only one of a list. */
const reportOnly = new WeakMap<object, boolean>();

function hasReportOnly(hooks: readonly AnyFunction[]): boolean {
  let isOnly = reportOnly.get(hooks);
  if (isOnly === undefined) {
    isOnly = hooks.length === 1 && hooks[0]!.name.endsWith(ROUTE_HOOK);
    reportOnly.set(hooks, isOnly);
  }
  return isOnly;
}

/** The first hooks of a request. Where they would do nothing but report its route, this does, without their closures. */
function hooksOf({ config, onRequest }: HookedRoute, response: object): HookedRoute['onRequest'] {
  const { report } = fastifyRoutes;
  const url = config?.url;
  if (report === undefined || url === undefined || onRequest === null) return onRequest;
  if (!hasReportOnly(onRequest)) return onRequest;
  report(response, url);
  return null;
}

/** Fastify. Before 5 it publishes nothing. */
export const fastify: Injection = {
  files: [
    {
      package: 'fastify',
      path: /^lib\/route\.js$/,
      texts: [
        {
          channel: 'fastify.request.handler',
          from: 'if (context.onRequest !== null) {',
          to: 'if ($channel.hooksOf(context, res) !== null) {',
          isOptional: true,
        },
      ],
    },
    {
      package: 'fastify',
      path: /^lib\/handleRequest\.js$/,
      unless: PUBLISHES,
      texts: [
        {
          channel: 'fastify.request.handler',
          from: /(?:(?:request|reply)\[kRouteContext\]|reply\.context)(?=\.handler\(request, reply\))/,
          to: '$channel.routed($match, request)',
        },
      ],
    },
  ],
  calls: (channels) => ({
    hooksOf,
    routed: (route: Route, request: unknown) => publishedRoute(channels, route, request),
  }),
};
