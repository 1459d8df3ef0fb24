import { bindFunctions, boundCallback } from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import type { AnyFunction, CallChannels, PublishedMessage } from '../engine/published-calls.js';
import type { ChangedText, InjectedFile } from './injected-file.js';
import { type Config, serverOf } from './mysql-server.js';
import { directOf } from './published-starts.js';

/** A statement with a callback. */
interface Statement {
  sql: unknown;
  onResult: AnyFunction;
}

interface Connection {
  readonly config: Config;
  addCommand(statement: Statement): unknown;
}

interface Pool {
  readonly _closed?: unknown;
  readonly _freeConnections: { peekBack?: () => unknown };
}

interface Message extends PublishedMessage {
  query: unknown;
  database: unknown;
  serverAddress: unknown;
  serverPort: unknown;
}

/**
 * Gives a connection a statement, and records that without the message that the library makes: that has the values.
 * False: the library is to do both.
 */
function isAdded(
  channels: CallChannels,
  connection: Connection,
  statement: Statement,
  sql = statement.sql,
): boolean {
  const direct = directOf(channels);
  if (direct === undefined) return false;
  const { database, serverAddress, serverPort } = serverOf(connection.config);
  const message: Message = { query: sql, database, serverAddress, serverPort };
  const call = direct.begin(message);
  if (call === undefined) {
    connection.addCommand(statement);
    return true;
  }
  statement.onResult = direct.callback(message, call, statement.onResult);
  try {
    connection.addCommand(statement);
  } catch (error) {
    message.error = error;
    direct.end(message, call, true);
    throw error;
  }
  return true;
}

/** Gives a connection a statement that the program has prepared itself, and records that if it has a callback. */
function addPrepared(
  channels: CallChannels,
  connection: Connection,
  statement: Statement,
  sql: unknown,
): Statement {
  const callsBack = typeof statement.onResult === 'function';
  if (!callsBack) bindFunctions(statement, ['emit']);
  if (!callsBack || !isAdded(channels, connection, statement, sql)) {
    connection.addCommand(statement);
  }
  return statement;
}

/** Whether a pool has a connection at once, so that nothing waits. */
function isFree(channels: CallChannels, { _closed, _freeConnections: free }: Pool): boolean {
  const direct = directOf(channels);
  if (direct === undefined || _closed === true) return false;
  const next = free.peekBack?.();
  if (next === undefined) return false;
  direct.acquired(next);
  return true;
}

/** Of every version: the socket is the connection's, and callbacks go on where the program called. */
export const connectionTexts: readonly ChangedText[] = [
  ...['opts.config.socketPath', 'opts.config.port, opts.config.host'].map((given) => ({
    channel: 'mysql2:query',
    from: `Net.connect( ${given} )`,
    to: '$channel.opened(() => $match)',
    isOptional: true,
  })),
  ...['prepare(options, cb)', 'ping(cb)', 'reset(cb)', 'connect(cb)'].map((method) => ({
    channel: 'mysql2:query',
    from: `${method} {`,
    to: '$match cb = $channel.bound(cb);',
    isOptional: true,
  })),
  {
    channel: 'mysql2:query',
    from: 'changeUser(options, callback) {',
    to: '$match callback = $channel.bound(callback);',
    isOptional: true,
  },
];

/** The functions that mysql2 3.20 and later calls instead of its own channels. */
export const recordedCalls = (channels: CallChannels): object => ({
  bound: boundCallback,
  emits: (statement: object) => {
    bindFunctions(statement, ['emit']);
  },
  opened: openConnection,
  prepared: (connection: Connection, statement: Statement, sql: unknown) =>
    addPrepared(channels, connection, statement, sql),
  added: (connection: Connection, statement: Statement) => isAdded(channels, connection, statement),
  free: (pool: Pool) => isFree(channels, pool),
});

/** A statement without a callback emits its rows where the program called. */
const emitter = (channel: string, statement: string): ChangedText => ({
  channel: 'mysql2:query',
  from: `else if (shouldTrace(${channel}))`,
  to: `else if ($channel.emits(${statement}), shouldTrace(${channel}))`,
  isOptional: true,
});

/** Files of mysql2 3.20 and later. */
export const recordedFiles: InjectedFile[] = [
  {
    package: 'mysql2',
    path: /^lib\/base\/connection\.js$/,
    only: /\bqueryChannel\b/,
    texts: [
      ...connectionTexts,
      emitter('queryChannel', 'cmdQuery'),
      emitter('executeChannel', 'executeCommand'),
      {
        channel: 'mysql2:query',
        from: 'traceCallback( queryChannel, (wrappedCb) => { cmdQuery.onResult = wrappedCb; this.addCommand(cmdQuery);',
        to: 'if (!$channel.added(this, cmdQuery)) $match',
        isOptional: true,
      },
    ],
  },
  {
    package: 'mysql2',
    path: /^lib\/commands\/prepare\.js$/,
    texts: [
      {
        channel: 'mysql2:execute',
        from: 'this._connection.addCommand( new Execute({ statement: this, values: parameters }, callback) )',
        to: '$channel.prepared(this._connection, new Execute({ statement: this, values: parameters }, callback), this.query)',
        isOptional: true,
      },
    ],
  },
  {
    package: 'mysql2',
    path: /^lib\/base\/pool\.js$/,
    only: /\bpoolConnectChannel\b[^]*_freeConnections\.pop\(\)/,
    texts: [
      {
        channel: 'mysql2:pool:connect',
        from: 'traceCallback( poolConnectChannel, _getConnection,',
        to: 'if ($channel.free(this)) _getConnection(cb); else $match',
        isOptional: true,
      },
    ],
  },
];
