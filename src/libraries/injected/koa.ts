import { enterMount, mountedPattern } from '../engine/koa-mounts.js';
import type { KoaContext } from '../engine/koa-mounts.js';
import { isObject } from '../engine/payload.js';
import { frameworkRouteFound } from '../engine/router-matches.js';
import { call } from './injected-file.js';
import type { Injection } from './injected-file.js';

const CHANNEL = 'orchestrion:koa-compose:middleware';

function report({ req }: KoaContext, route: string): void {
  if (isObject(req)) frameworkRouteFound(req, route);
}

/** `koa-compose`, and what mounts and routes without a router. */
export const koa: Injection = {
  files: [
    {
      package: 'koa-compose',
      path: /^index\.js$/,
      texts: [call(CHANNEL, 'fn(context,', 'context, handler: fn')],
    },
    {
      package: 'koa-mount',
      path: /^index\.js$/,
      texts: [
        {
          channel: CHANNEL,
          from: 'ctx.mountPath = prefix',
          to: '$channel.mounted(ctx, prefix); $match',
          isOptional: true,
        },
      ],
    },
    {
      package: 'koa-route',
      path: /^index\.js$/,
      texts: [
        {
          channel: CHANNEL,
          from: 'ctx.routePath = path',
          to: '$channel.routed(ctx, path); $match',
          isOptional: true,
        },
      ],
    },
  ],
  calls: () => ({
    // What nothing in the mount has a route for, it has answered by itself: files, a proxy.
    mounted(context: KoaContext, prefix: string) {
      report(context, enterMount(context, prefix));
    },
    routed(context: KoaContext, path: unknown) {
      report(context, mountedPattern(context, String(path)));
    },
  }),
};
