import type { EventEmitter } from 'node:events';
import { bindFunctions, boundCallback } from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import { publishedCallback } from '../engine/published-calls.js';
import type { AnyFunction, CallChannels } from '../engine/published-calls.js';
import type { Injection } from './injected-file.js';
import { type Config, serverOf } from './mysql-server.js';
import {
  channelsOf,
  publishedWait,
  publishFailure,
  publishStart,
  publishSuccess,
} from './published-starts.js';

/** A statement. With a callback it calls that, and it always emits what it finds. */
interface Query extends EventEmitter {
  _callback?: AnyFunction;
  end: AnyFunction;
}

/**
 * Publishes a statement that a connection gets. Listening for its error would change what the library does with that,
 * so its `end` is replaced.
 */
function publishQuery(channels: CallChannels, query: Query, sql: unknown, config: Config): void {
  bindFunctions(query, ['emit']);
  const message = publishStart(channels, query, { ...serverOf(config), query: sql });
  if (message === undefined) return;
  if (typeof query._callback === 'function') {
    query._callback = publishedCallback(channels, message, query._callback);
    return;
  }
  const { end } = query;
  query.end = function (this: unknown, ...outcome) {
    const [error] = outcome;
    if (error) publishFailure(channels, message, error);
    else publishSuccess(channels, message);
    query.end = end;
    return end.apply(this, outcome);
  };
}

/** mysql, of which 2.18 is the last. It publishes nothing. */
export const mysql: Injection = {
  files: [
    {
      package: 'mysql',
      path: /^lib\/Connection\.js$/,
      texts: [
        {
          channel: 'mysql:query',
          from: /if \(query\.sql\) \{\s+query\.sql = this\.format\(/,
          to: 'const template = query.sql; $match',
        },
        {
          channel: 'mysql:query',
          from: 'return this._protocol._enqueue(query)',
          to: '$channel.queued(query, template, this.config); $match',
        },
        {
          channel: 'mysql:query',
          from: 'function wrapCallbackInDomain(ee, fn) {',
          to: '$match fn = $channel.bound(fn);',
        },
        ...['this.config.socketPath', 'this.config.port, this.config.host'].map((given) => ({
          channel: 'mysql:query',
          from: `Net.createConnection(${given})`,
          to: '$channel.opened(() => $match)',
          isOptional: true,
        })),
      ],
    },
    {
      package: 'mysql',
      path: /^lib\/Pool\.js$/,
      texts: [
        {
          channel: 'mysql:pool:connect',
          from: 'Pool.prototype.getConnection = function (cb) {',
          to: '$match cb = $channel.waited(cb, this.config.connectionConfig);',
        },
      ],
    },
  ],
  calls: (channels) => ({
    bound: boundCallback,
    opened: openConnection,
    queued: (query: Query, sql: unknown, config: Config) => {
      publishQuery(channels, query, sql, config);
    },
    waited: (callback: unknown, config: Config) =>
      publishedWait(channelsOf('mysql:pool:connect'), callback, serverOf(config)),
  }),
};
