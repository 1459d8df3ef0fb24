import { mountedRoute } from '../../spans/route.js';
import { frameworkRouteFound } from '../engine/router-matches.js';
import type { ChangedText, Injection } from './injected-file.js';

const CHANNEL = 'orchestrion:routers:matched';

/** Of hapi: a route. Special ones are for requests that match none. */
interface HapiRoute {
  readonly path: string;
  readonly _special: boolean;
}

/** Of tinyhttp: an application, mounted at a pattern or at several. */
interface TinyApplication {
  readonly noMatchHandler: unknown;
  path(): string;
}

interface TinyRoute {
  readonly type: 'mw' | 'route';
  readonly path: unknown;
  readonly handler: unknown;
}

/** Of LoopBack: a route that was found. */
interface LoopBackRoute {
  readonly path: string;
}

/** Of Adonis: a request whose route was found. */
interface AdonisContext {
  readonly request: { readonly request: object };
  readonly route: { readonly pattern: string };
}

/** Of polka: functions by pattern, by method. */
interface PolkaApplication {
  readonly handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** By request: the mounts of polka around what looks at it. */
const mounts = new WeakMap<object, string>();

function matched(from: string, to: string): ChangedText[] {
  return [{ channel: CHANNEL, isOfRoutes: true, isOptional: true, from, to }];
}

/** Frameworks of which the routes alone are recorded. */
export const routers: Injection = {
  files: [
    {
      package: '@hapi/hapi',
      path: /^lib\/request\.js$/,
      texts: matched(
        'this._route = match.route;',
        '$match $channel.hapi(this.raw.req, match.route);',
      ),
    },
    {
      package: '@tinyhttp/app',
      path: /^dist\/app\.js$/,
      texts: matched(
        "if (middleware.type === 'mw') {",
        '$channel.tinyhttp(this, req, middleware); $match',
      ),
    },
    {
      package: '@loopback/rest',
      path: /^dist\/router\/routing-table\.js$/,
      texts: matched(
        'const found = this._router.find(request);',
        '$match if (found) $channel.loopback(request, found);',
      ),
    },
    {
      package: '@adonisjs/http-server',
      path: /^build\/(?:[\w-]+|src\/server\/factories\/final_handler)\.js$/,
      texts: matched('ctx.route = route.route;', '$match $channel.adonis(ctx);'),
    },
    {
      // Version 1 keeps no pattern.
      package: 'polka',
      path: /^index\.js$/,
      texts: [
        ...matched('fns = obj.handlers;', '$channel.polka(this, req, obj.handlers); $match'),
        ...matched('mutate(base, req); info.pathname', '$channel.polkaMount(req, base); $match'),
      ],
    },
  ],
  calls: () => ({
    hapi(request: object, { path, _special: isSpecial }: HapiRoute) {
      if (!isSpecial) frameworkRouteFound(request, path);
    },
    loopback(request: object, { path }: LoopBackRoute) {
      frameworkRouteFound(request, path);
    },
    adonis({ request, route }: AdonisContext) {
      frameworkRouteFound(request.request, route.pattern);
    },
    tinyhttp(application: TinyApplication, request: object, { type, path, handler }: TinyRoute) {
      if (type !== 'route' || typeof path !== 'string') return;
      const mount = application.path();
      // A list of mounts does not say which of them it was.
      if (handler === application.noMatchHandler || mount.includes(', ')) return;
      frameworkRouteFound(request, mountedRoute(mount, path));
    },
    polka({ handlers }: PolkaApplication, request: object, found: unknown) {
      for (const patterns of Object.values(handlers)) {
        const pattern = Object.keys(patterns).find((each) => patterns[each] === found);
        if (pattern === undefined) continue;
        const path = pattern.startsWith('/') ? pattern : `/${pattern}`;
        frameworkRouteFound(request, mountedRoute(mounts.get(request) ?? '', path));
        return;
      }
    },
    polkaMount(request: object, base: string) {
      mounts.set(request, (mounts.get(request) ?? '') + base);
    },
  }),
};
