import { boundCallback } from '../engine/callers.js';
import { isObject } from '../engine/payload.js';
import { frameworkRouteFound } from '../engine/router-matches.js';
import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const socketIo: Injection = {
  files: [
    {
      package: 'socket.io',
      path: /^dist\/index\.js$/,
      methods: [method('orchestrion:socket.io:connect', 'Server.prototype', 'onconnection')],
    },
    {
      package: 'socket.io',
      path: /^dist\/socket\.js$/,
      // Before 3.0.5.
      only: /super\.emit\.apply\(this, args\)/,
      texts: [
        {
          channel: 'orchestrion:socket.io:event',
          from: 'super.emit.apply(this, args)',
          to: '$channel.emit(this, ...args)',
        },
      ],
    },
    {
      package: 'socket.io',
      path: /^dist\/socket\.js$/,
      texts: [
        {
          channel: 'orchestrion:socket.io:event',
          from: /super\.emit(?:Untyped)?\.apply\(this, event\)/,
          to: '$channel.emit(this, ...event)',
        },
        // A client acknowledges what others have asked it, too.
        {
          channel: 'orchestrion:socket.io:event',
          from: /\bregisterAckCallback\(id, ack\) \{/,
          to: '$match ack = $channel.bound(ack);',
          isOptional: true,
        },
      ],
    },
    // Socket.IO 2.
    {
      package: 'socket.io',
      path: /^lib\/index\.js$/,
      methods: [method('orchestrion:socket.io:connect', 'Server.prototype', 'onconnection')],
    },
    {
      package: 'socket.io',
      path: /^lib\/socket\.js$/,
      texts: [
        {
          channel: 'orchestrion:socket.io:event',
          from: 'emit.apply(self, event)',
          to: '$channel.emit(self, ...event)',
        },
      ],
    },
    // It answers requests before the program's server gets them.
    {
      package: 'engine.io',
      path: /^(?:build|lib)\/server\.js$/,
      texts: ['handleRequest(req, res)', 'handleUpgrade(req, socket, head)'].map((handling) => ({
        channel: 'orchestrion:socket.io:connect',
        from: new RegExp(`(?:this|self)\\.${handling.replaceAll(/[()]/g, '\\$&')}`),
        to: '$channel.routed(req, path); $match',
        isOptional: true,
      })),
    },
  ],
  calls: () => ({
    bound: boundCallback,
    routed(request: unknown, path: unknown) {
      if (isObject(request) && typeof path === 'string') frameworkRouteFound(request, path);
    },
  }),
};
