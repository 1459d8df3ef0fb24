import { boundCallback, keepCaller } from '../engine/callers.js';
import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

export const ws: Injection = {
  files: [
    {
      package: 'ws',
      path: /^lib\/websocket-server\.js$/,
      methods: [method('orchestrion:ws:accept', 'module.exports.prototype', 'completeUpgrade')],
    },
    {
      package: 'ws',
      path: /^lib\/websocket\.js$/,
      texts: [
        {
          channel: 'orchestrion:ws:message',
          from: /\bsetSocket\(socket, head, [\w, ]+\) \{/,
          to: '$match $channel.keep(this);',
          isOptional: true,
        },
        {
          channel: 'orchestrion:ws:message',
          from: "this[kWebSocket].emit('message',",
          to: "$channel.emit(this[kWebSocket], 'message',",
        },
      ],
    },
    {
      // What is sent may wait until something else is compressed, or written.
      package: 'ws',
      path: /^lib\/sender\.js$/i,
      texts: [
        {
          channel: 'orchestrion:ws:message',
          from: /\bsend\(data, options, cb\) \{/,
          to: '$match cb = $channel.bound(cb);',
          isOptional: true,
        },
      ],
    },
  ],
  calls: () => ({ keep: keepCaller, bound: boundCallback }),
};
