import { serveNodeRequest } from '../engine/socketless-requests.js';
import { SOCKETLESS } from '../channel-names.js';
import type { Injection } from './injected-file.js';

/** Libraries that hand requests to an application without a socket: for tests, and for functions of a cloud. */
export const adapters: Injection = {
  files: [
    {
      // `inject` of Fastify, and of its adapters.
      package: 'light-my-request',
      path: /^index\.js$/,
      texts: [
        {
          channel: SOCKETLESS,
          from: 'dispatchFunc.call(server, req, res)',
          to: '$channel.served(req, res, () => $match)',
        },
      ],
    },
    {
      package: 'serverless-http',
      path: /^serverless-http\.js$/,
      texts: [
        {
          channel: SOCKETLESS,
          from: 'framework(request)',
          to: '$channel.served(request, void 0, () => $match)',
        },
      ],
    },
    {
      package: '@codegenie/serverless-express',
      path: /^src\/transport\.js$/,
      texts: [
        {
          channel: SOCKETLESS,
          from: 'framework.sendRequest({ app, request, response })',
          to: '$channel.served(request, response, () => $match)',
        },
      ],
    },
  ],
  calls: () => ({ served: serveNodeRequest }),
};
