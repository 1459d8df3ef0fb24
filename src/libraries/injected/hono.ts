import { serveWebRequest } from '../engine/socketless-requests.js';
import { SOCKETLESS } from '../channel-names.js';
import { call } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const hono: Injection = {
  files: [
    {
      package: 'hono',
      path: /^dist\/(?:cjs\/)?compose\.js$/,
      texts: [
        call(
          'orchestrion:hono:handler',
          'handler(context,',
          'context, handlers: middleware, index: i',
        ),
      ],
    },
    {
      package: 'hono',
      path: /^dist\/(?:cjs\/)?hono-base\.js$/,
      // The only function of a request is called without `compose`.
      texts: [
        call(
          'orchestrion:hono:handler',
          'matchResult[0][0][0][0](c,',
          'context: c, matched: matchResult',
          'matchResult[0][0][0]',
        ),
        ...['rest[1], rest[0]', 'executionCtx, Env'].map((given) => ({
          channel: SOCKETLESS,
          from: new RegExp(
            `this\\.#?dispatch\\(request, ${given.replaceAll(/[[\]]/g, '\\$&')}, request\\.method\\)`,
          ),
          to: `(${given.split(', ')[1]!}?.incoming ? $match : $channel.served(request, () => $match))`,
          isOptional: true,
        })),
      ],
    },
  ],
  calls: () => ({ served: serveWebRequest }),
};
