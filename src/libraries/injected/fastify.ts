import type { AnyFunction } from '../engine/published-calls.js';
import { PUBLISHES } from './injected-file.js';
import type { Injection } from './injected-file.js';
import type { TracedChannels } from './published-starts.js';

/** What Fastify knows of a route. */
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

/** Fastify before 5. */
export const fastify: Injection = {
  files: [
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
    routed: (route: Route, request: unknown) => publishedRoute(channels, route, request),
  }),
};
