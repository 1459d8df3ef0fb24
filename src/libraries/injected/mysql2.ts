import type { EventEmitter } from 'node:events';
import { bindFunctions } from '../engine/callers.js';
import { publishedCallback } from '../engine/published-calls.js';
import type { AnyFunction, CallChannels, PublishedMessage } from '../engine/published-calls.js';
import { PUBLISHES } from './injected-file.js';
import type { Injection } from './injected-file.js';
import { type Config, serverOf } from './mysql-server.js';
import { connectionTexts, recordedCalls, recordedFiles } from './recorded-mysql2.js';
import {
  channelsOf,
  publishedWait,
  publishFailure,
  publishStart,
  publishSuccess,
} from './published-starts.js';
import type { Fields } from './published-starts.js';

/** A command of mysql2. With a callback it calls that, else it emits what it finds. */
interface QueuedCommand extends EventEmitter {
  sql?: unknown;
  /** One that the program has prepared itself. */
  statement?: { query?: unknown };
  onResult?: AnyFunction;
}

interface Connection {
  readonly config: Config;
}

/** By connection of mysql2: the message of the last statement that it prepares, and the callback of its own beginning. */
const prepared = new WeakMap<object, PublishedMessage>();
const connecting = new WeakMap<object, (error: unknown) => void>();

/** Has a message end with a command, once. */
function endWith(channels: CallChannels, command: QueuedCommand, message: PublishedMessage): void {
  const { onResult } = command;
  if (typeof onResult === 'function') {
    command.onResult = publishedCallback(channels, message, onResult);
    return;
  }
  // It emits an error only if the program listens, for otherwise that is thrown.
  command.once('end', () => {
    if ('error' in message) publishFailure(channels, message, message.error);
    else publishSuccess(channels, message);
  });
}

/** Publishes the commands of a connection of mysql2 that the program waits for. */
function publishQueued(
  queries: CallChannels,
  connection: object,
  command: QueuedCommand,
  server: Fields,
): void {
  const kind = command.constructor.name;
  if (typeof command.onResult !== 'function' && (kind === 'Query' || kind === 'Execute')) {
    bindFunctions(command, ['emit']);
  }
  if (kind === 'ClientHandshake') {
    const channels = channelsOf('mysql2:connect');
    const message = publishStart(channels, command, server);
    if (message === undefined) return;
    let isOver = false;
    const end = (error?: unknown): void => {
      connecting.delete(connection);
      if (isOver) return;
      isOver = true;
      if (error === undefined) publishSuccess(channels, message);
      else publishFailure(channels, message, error);
    };
    connecting.set(connection, end);
    command.prependOnceListener('error', end);
    command.once('end', () => {
      end();
    });
  } else if (kind === 'Query') {
    const message = publishStart(queries, command, { ...server, query: command.sql });
    if (message !== undefined) endWith(queries, command, message);
  } else if (kind === 'Prepare') {
    // Maybe for `execute`, of which the next command is the other half.
    const { onResult } = command;
    if (typeof onResult !== 'function') return;
    const message: PublishedMessage = {};
    prepared.set(connection, message);
    command.onResult = function (...outcome) {
      if (outcome[0]) message.error = outcome[0];
      return onResult.apply(this, outcome);
    };
  } else if (kind === 'Execute') {
    const of = prepared.get(connection);
    prepared.delete(connection);
    const channels = channelsOf('mysql2:execute');
    const query = command.sql ?? command.statement?.query;
    const message = publishStart(channels, command, { ...server, query });
    if (message === undefined) return;
    endExecution(channels, command, message, of);
  }
}

/** An execution ends without its callback if the statement could not be prepared. */
function endExecution(
  channels: CallChannels,
  command: QueuedCommand,
  message: PublishedMessage,
  ofPrepare: PublishedMessage | undefined,
): void {
  const hasCallback = typeof command.onResult === 'function';
  if (hasCallback) endWith(channels, command, message);
  command.once('end', () => {
    if (ofPrepare !== undefined && 'error' in ofPrepare) {
      publishFailure(channels, message, ofPrepare.error);
    } else if (!hasCallback) publishSuccess(channels, message);
  });
}

/** mysql2. Before 3.20 it publishes nothing. */
export const mysql2: Injection = {
  files: [
    ...recordedFiles,
    {
      package: 'mysql2',
      path: /^lib\/(?:base\/)?connection\.js$/,
      unless: PUBLISHES,
      only: /\baddCommand\(cmd\) \{/,
      texts: [
        ...connectionTexts,
        {
          channel: 'mysql2:query',
          from: 'addCommand(cmd) {',
          to: '$match $channel.queued(this, cmd);',
        },
        {
          channel: 'mysql2:connect',
          from: '_notifyError(err) {',
          to: '$match $channel.unconnected(this, err);',
        },
      ],
    },
    {
      package: 'mysql2',
      path: /^lib\/(?:base\/)?pool\.js$/,
      unless: PUBLISHES,
      only: /\bgetConnection\(cb\) \{\s*if \(this\._closed/,
      texts: [
        {
          channel: 'mysql2:pool:connect',
          from: 'getConnection(cb) {',
          to: '$match cb = $channel.waited(cb, this.config.connectionConfig);',
        },
      ],
    },
  ],
  calls: (channels) => ({
    ...recordedCalls(channels),
    queued: (connection: Connection, command: QueuedCommand) => {
      publishQueued(channels, connection, command, serverOf(connection.config));
    },
    unconnected: (connection: object, error: unknown) => {
      connecting.get(connection)?.(error);
    },
    waited: (callback: unknown, config: Config) =>
      publishedWait(channels, callback, serverOf(config)),
  }),
};
