import { mountedRoute } from '../../spans/route.js';
import { isObject } from '../engine/payload.js';
import { frameworkRouteFound } from '../engine/router-matches.js';
import { serveWebRequest } from '../engine/socketless-requests.js';
import { SOCKETLESS } from '../channel-names.js';
import type { Injection } from './injected-file.js';

const MAX_PATTERN = 256;

interface NodeRequest {
  readonly url?: unknown;
  /** As it came: routers within each other cut it. */
  readonly originalUrl?: unknown;
  /** Of express, if that has mounted it. */
  readonly baseUrl?: unknown;
}

interface Event {
  /** Of h3 1: what the router that looks for a route has of the path. */
  readonly path?: unknown;
  readonly node?: { readonly req?: NodeRequest };
  readonly req?: unknown;
  /** Of h3 2. */
  readonly runtime?: { readonly node?: { readonly req?: NodeRequest } };
}

interface Route {
  readonly route?: unknown;
  readonly path?: unknown;
}

function pathOf(url: unknown): string {
  return String(url).split('?', 1)[0]!;
}

/** The path before the patterns of a mounted router. A mount of h3 1 is a text without parameters. */
function prefixOf({ path, node }: Event): string {
  const { originalUrl, url, baseUrl } = node?.req ?? {};
  let whole = pathOf(originalUrl ?? url);
  if (typeof baseUrl === 'string' && whole.startsWith(baseUrl)) whole = whole.slice(baseUrl.length);
  const own = pathOf(path);
  if (own === '/') return whole.replace(/\/$/, '');
  return whole.endsWith(own) ? whole.slice(0, -own.length) : '';
}

/** By event: the path that `withBase` of h3 2 has cut from it. */
const bases = new WeakMap<object, string>();

function enterBase(event: object, base: string): void {
  if (base !== '/') bases.set(event, (bases.get(event) ?? '') + base);
}

/** A later handler gets the whole path. */
function leaveBase(event: object, base: string): void {
  if (base !== '/') bases.set(event, bases.get(event)?.slice(0, -base.length) ?? '');
}

function report(event: Event, { route, path }: Route): void {
  const pattern = route ?? path;
  const request = event.runtime?.node?.req ?? event.node?.req ?? event.req;
  if (typeof pattern !== 'string' || !isObject(request)) return;
  const isFirst = event.runtime === undefined && event.node !== undefined;
  const prefix = isFirst ? prefixOf(event) : (bases.get(event) ?? '');
  frameworkRouteFound(request, mountedRoute(prefix, pattern).slice(0, MAX_PATTERN));
}

/** The routes of h3, and its requests without a socket. */
export const h3: Injection = {
  files: [
    {
      package: 'h3',
      path: /^dist\/[\w-]+\.mjs$/,
      only: /event\.context\.matchedRoute = route\.data;/,
      texts: [
        {
          channel: SOCKETLESS,
          from: 'event.context.matchedRoute = route.data;',
          to: '$match $channel.routed(event, route.data);',
        },
        {
          channel: SOCKETLESS,
          from: 'return this["~request"](request);',
          to: 'return request.runtime?.node ? this["~request"](request) : $channel.served(request, () => this["~request"](request));',
          isOptional: true,
        },
        {
          channel: SOCKETLESS,
          from: 'return this["~request"](toRequest(_req, _init), context);',
          to: 'const request = toRequest(_req, _init); return $channel.served(request, () => this["~request"](request, context));',
          isOptional: true,
        },
      ],
    },
    {
      package: 'h3',
      path: /^dist\/[\w-]+\.mjs$/,
      only: /event\.url\.pathname = _pathBefore;/,
      texts: [
        {
          channel: SOCKETLESS,
          from: 'event.url.pathname = withoutBase(event.url.pathname || "/", base);',
          to: '$match $channel.entered(event, base);',
        },
        {
          channel: SOCKETLESS,
          from: 'event.url.pathname = _pathBefore;',
          to: '$match $channel.left(event, base);',
        },
      ],
    },
    {
      package: 'h3',
      path: /^dist\/index\.[cm]js$/,
      only: /event\.context\.matchedRoute = match\.matched;/,
      texts: [
        {
          channel: SOCKETLESS,
          from: 'event.context.matchedRoute = match.matched;',
          to: '$match $channel.routed(event, match.matched);',
        },
      ],
    },
  ],
  calls: () => ({ routed: report, entered: enterBase, left: leaveBase, served: serveWebRequest }),
};
