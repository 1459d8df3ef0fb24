import { bindFunctions, boundCallback } from '../engine/callers.js';
import { DIRECT } from '../engine/published-calls.js';
import type { AnyFunction, CallChannels } from '../engine/published-calls.js';
import { method } from './injected-file.js';
import type { Injection } from './injected-file.js';

/** Functions that a connection calls of an object that runs itself: a `Query` of the program, a cursor, a stream. */
const HANDLERS = [
  'handleRowDescription',
  'handleDataRow',
  'handlePortalSuspended',
  'handleCommandComplete',
  'handleEmptyQuery',
  'handleCopyInResponse',
  'handleCopyData',
  'handleReadyForQuery',
  'handleError',
];

interface Submitted {
  handleReadyForQuery?: AnyFunction;
  handleError?: AnyFunction;
  /** Of a stream of rows: who reads it asks for them. */
  readonly cursor?: unknown;
}

const NO_END: AnyFunction = () => undefined;

/** Records what runs itself until the server is ready for the next query. It goes on where the program called. */
function recordSubmitted({ start }: CallChannels, submitted: Submitted): void {
  const direct = start[DIRECT];
  if (direct === undefined) return;
  const end = direct.ends(NO_END);
  const { handleReadyForQuery: ready, handleError: failed } = submitted;
  if (end !== NO_END && typeof ready === 'function' && typeof failed === 'function') {
    submitted.handleReadyForQuery = function (...args) {
      end();
      return ready.apply(this, args);
    };
    submitted.handleError = function (...args) {
      end(args[0]);
      return failed.apply(this, args);
    };
  }
  bindFunctions(submitted, HANDLERS);
  // What COPY sends does not come through the handlers.
  if (submitted.cursor === undefined) bindFunctions(submitted, ['emit']);
}

export const pg: Injection = {
  files: [
    {
      package: 'pg',
      path: /^lib\/connection\.js$/,
      only: /readyState === 'open'/,
      reason:
        'it cannot connect on Node 14 and later, with the hook or without; 8.0.3 and later can',
    },
    {
      package: 'pg',
      path: /^lib\/client\.js$/,
      methods: [
        method('orchestrion:pg:query', 'Client.prototype', 'query'),
        method('orchestrion:pg:connect', 'Client.prototype', 'connect'),
      ],
      texts: [
        {
          channel: 'orchestrion:pg:query',
          from: /query\.callback = \(err, res\) => \(?err \? reject\(err\) : resolve\(res\)\)?/,
          to: '$match; query.callback = $channel.ends(query.callback)',
          isOptional: true,
        },
        {
          channel: 'orchestrion:pg:query',
          from: 'result = query = config',
          to: '$match, $channel.submitted(config)',
          isOptional: true,
        },
      ],
    },
    {
      package: 'pg-cursor',
      path: /^index\.js$/,
      texts: [
        {
          channel: 'orchestrion:pg:query',
          from: /\bread(?: = function )?\(rows, cb\) \{/,
          to: '$match cb = $channel.bound(cb);',
        },
        {
          channel: 'orchestrion:pg:query',
          from: /\bclose(?: = function )?\(cb\) \{/,
          to: '$match cb = $channel.bound(cb);',
        },
      ],
    },
    {
      package: 'pg-pool',
      path: /^index\.js$/,
      methods: [method('orchestrion:pg-pool:connect', 'Pool.prototype', 'connect')],
    },
  ],
  calls: (channels) => ({
    bound: boundCallback,
    ends: (callback: AnyFunction) => channels.start[DIRECT]?.ends(callback) ?? callback,
    submitted: (submitted: Submitted) => {
      recordSubmitted(channels, submitted);
    },
  }),
};
