import { asCaller, bindFunctions, hasCaller, keepCaller } from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import type { AnyFunction, CallChannels, PublishedMessage } from '../engine/published-calls.js';
import type { Injection } from './injected-file.js';
import { channelsOf, publishFailure, publishStart, publishSuccess } from './published-starts.js';

/** A query of postgres: a promise that begins when the program asks for its result. */
interface Query {
  string?: unknown;
  reject: AnyFunction;
  /** Sends it: by the pool, or by the connection whose query it is. */
  handler: AnyFunction;
}

/** The options of a pool. */
interface Options {
  host?: readonly unknown[];
  port?: readonly unknown[];
  path?: unknown;
  database?: unknown;
}

/** Options of connections that say when they send a query. */
const sending = new WeakSet<object>();
/** By query: the messages of waiting for a connection, and of the server's work. */
const waiting = new WeakMap<object, PublishedMessage>();
const running = new WeakMap<object, PublishedMessage>();

/** With several hosts it is not known here which one answers. */
function serverOf({ host, port, path, database }: Options) {
  if (typeof path === 'string') return { host: path, database };
  return host?.length === 1 ? { host: host[0], port: port?.[0], database } : { database };
}

/** A query waits until it gets a connection, or fails before. */
function publishWait(query: Query, options: Options): void {
  if (!sending.has(options)) return;
  const channels = channelsOf('postgres:pool');
  const message = publishStart(channels, {}, serverOf(options));
  if (message === undefined) return;
  waiting.set(query, message);
  const { reject } = query;
  query.reject = function (error) {
    if (waiting.delete(query)) publishFailure(channels, message, error);
    return reject.call(this, error);
  };
}

/** A query goes to the server. Those that the library makes for itself are left out. */
function publishSent(channels: CallChannels, query: Query, options: Options): void {
  if (!hasCaller(query)) return;
  asCaller(query, () => {
    const wait = waiting.get(query);
    waiting.delete(query);
    if (wait !== undefined) publishSuccess(channelsOf('postgres:pool'), wait);
    bindFunctions(query, ['forEachFn', 'cursorFn']);
    const fields = { ...serverOf(options), query: query.string };
    const message = publishStart(channels, query, fields);
    if (message !== undefined) running.set(query, message);
  });
}

/** postgres, also called postgres.js. It publishes nothing. */
export const postgres: Injection = {
  files: [
    {
      package: 'postgres',
      path: /^(?:cjs\/)?src\/query\.js$/,
      texts: [
        {
          channel: 'postgres:query',
          from: '(this.executed = true) && await 1',
          to: '(this.executed = true, $channel.keep(this), await 1)',
        },
      ],
    },
    {
      package: 'postgres',
      path: /^(?:cjs\/)?src\/index\.js$/,
      texts: [
        {
          channel: 'postgres:pool',
          from: 'return connect(closed.shift(), query)',
          to: 'return $channel.waits(query, options), connect(closed.shift(), query)',
          isOptional: true,
        },
        {
          channel: 'postgres:pool',
          from: ': queries.push(query)',
          to: ': ($channel.waits(query, options), queries.push(query))',
          isOptional: true,
        },
      ],
    },
    {
      package: 'postgres',
      path: /^(?:cjs\/)?src\/connection\.js$/,
      texts: [
        {
          channel: 'postgres:query',
          from: 'id = uid++',
          to: 'id = ($channel.sends(options), uid++)',
        },
        {
          channel: 'postgres:query',
          from: 'return write(toBuffer(q))',
          to: '$channel.sent(q, options); $match',
        },
        {
          channel: 'postgres:query',
          // Before 3.4.8 there is no `errorResponse`: a query fails before the server is ready for the next one.
          from: 'function ReadyForQuery(x) {',
          to: '$match if (query && (typeof errorResponse === "undefined" || !errorResponse)) $channel.done(query);',
        },
        {
          channel: 'postgres:query',
          from: 'function queryError(query, err) {',
          to: '$match $channel.failed(query, err);',
        },
        {
          channel: 'postgres:query',
          from: /setTimeout\(connect, closed\w+ \? [^\n]+/,
          to: '$channel.opened(() => $match)',
        },
      ],
    },
  ],
  calls: (channels) => ({
    keep: (query: Query) => {
      if (query.handler.name !== 'execute') keepCaller(query);
    },
    opened: openConnection,
    sends: (options: Options) => sending.add(options),
    waits: publishWait,
    sent: (query: Query, options: Options) => {
      publishSent(channels, query, options);
    },
    done: (query: object) => {
      const message = running.get(query);
      if (message !== undefined && running.delete(query)) publishSuccess(channels, message);
    },
    failed: (query: object, error: unknown) => {
      const message = running.get(query);
      if (message !== undefined && running.delete(query)) publishFailure(channels, message, error);
    },
  }),
};
