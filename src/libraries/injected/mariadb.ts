import { asCaller, boundCallback, keepCaller } from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import type { AnyFunction, CallChannels } from '../engine/published-calls.js';
import type { ChangedText, Injection } from './injected-file.js';
import { type Config, serverOf } from './mysql-server.js';
import {
  channelsOf,
  isPublished,
  markPublished,
  publishedWait,
  publishFailure,
  publishStart,
  publishSuccess,
} from './published-starts.js';
import type { Fields } from './published-starts.js';

type Settle = (outcome: unknown) => unknown;

/** What goes to the server. A command that prepares a statement has its connection. */
interface Command {
  sql?: unknown;
  readonly cmdParam: object;
  readonly prepare?: object | null;
  readonly conn?: unknown;
  resolve: Settle;
  reject: Settle;
}

interface Connection {
  readonly opts: Config;
}

interface Pool {
  readonly opts: { readonly connOptions: Config };
}

/** Methods that send what a connection sets for itself. */
const OWN = [
  'executeSessionVariableQuery',
  'handleCharset',
  'handleTimezone',
  '_setSessionTimezone',
  'checkServerVersion',
  'executeInitQuery',
  'executeSessionTimeout',
];
const ADD = [
  'addCommandQueue',
  'addCommandEnable',
  'addCommandEnablePipeline',
  'addCommandDisabled',
  // One of these, which it has already.
  'addCommand',
];
let isOwn = false;

/** Replaces those methods of an object that it has. */
function replace(
  object: object,
  names: readonly string[],
  by: (original: AnyFunction) => AnyFunction,
): void {
  const methods = object as Record<string, unknown>;
  for (const name of names) {
    const original = methods[name];
    if (typeof original === 'function') methods[name] = by(original.bind(object) as AnyFunction);
  }
}

/**
 * Sends what the program asks for and waits for: it is published until it is settled.
 *
 * @param send is called with the functions that settle it.
 */
function publishUntilSettled(
  channels: CallChannels,
  asked: object,
  fields: Fields,
  [resolve, reject]: readonly [Settle, Settle],
  send: (resolve: Settle, reject: Settle) => unknown,
): unknown {
  const message = publishStart(channels, asked, fields);
  if (message === undefined) return send(resolve, reject);
  try {
    return send(
      (result) => {
        publishSuccess(channels, message);
        return resolve(result);
      },
      (error) => {
        publishFailure(channels, message, error);
        return reject(error);
      },
    );
  } catch (error) {
    publishFailure(channels, message, error);
    throw error;
  }
}

/** Whether a command is a statement, and no part of another one. */
function isStatement({ sql, conn, prepare }: Command): boolean {
  return !isOwn && conn === undefined && typeof sql === 'string' && !isPublished(prepare ?? {});
}

function observeConnection(channels: CallChannels, connection: Connection): void {
  const fieldsOf = (query: unknown): Fields => ({ ...serverOf(connection.opts), query });
  replace(connection, ADD, (original) => (given, ...rest) => {
    const command = given as Command;
    if (!isStatement(command)) return original(command, ...rest);
    const { cmdParam, sql, resolve, reject } = command;
    return publishUntilSettled(
      channels,
      cmdParam,
      fieldsOf(sql),
      [resolve, reject],
      (...settle) => {
        // The connection may settle it elsewhere.
        [command.resolve, command.reject] = settle.map(
          (each): Settle =>
            (outcome) =>
              asCaller(command, () => each(outcome)),
        ) as [Settle, Settle];
        return original(command, ...rest);
      },
    );
  });
  replace(connection, OWN, (original) => (...given) => {
    isOwn = true;
    try {
      return original(...given);
    } finally {
      isOwn = false;
    }
  });
  replace(connection, ['streamInitSocket'], (original) => () => openConnection(original));
  // They are several commands.
  replace(connection, ['prepareExecute', 'batch'], (original) => (given, ...settle) => {
    const param = given as { sql?: unknown };
    if (settle.length < 2 || typeof param.sql !== 'string') return original(param, ...settle);
    const pair = settle as [Settle, Settle];
    return publishUntilSettled(channels, param, fieldsOf(param.sql), pair, (...own) =>
      original(param, ...own),
    );
  });
  replace(connection, ['prepare'], (original) => (param, resolve, reject) => {
    if (!isPublished(param as object)) return original(param, resolve, reject);
    const prepared = (statement: unknown): unknown => {
      markPublished(statement as object);
      return (resolve as Settle)(statement);
    };
    return original(param, prepared, reject);
  });
}

function observePool(pool: Pool): void {
  const channels = channelsOf('mariadb:pool:connect');
  replace(pool, ['getConnection'], (original) => (param, callback) => {
    const waited = publishedWait(channels, callback, serverOf(pool.opts.connOptions));
    return original(param, boundCallback(waited));
  });
}

const change = (from: RegExp, to: string, isOptional = false): ChangedText => ({
  channel: 'mariadb:query',
  from,
  to,
  isOptional,
});
const COMMAND = change(
  /this\.sequenceNo ?= ?-1(?=[,;]\s*this\.compressSequenceNo ?= ?-1[,;]\s*this\.resolve ?=)/,
  '$channel.keep(this), $match',
);
const CONNECTION = change(
  /this\._closePrepare\.bind\(this\)/,
  '($channel.connection(this), $match)',
);
const POOL = change(/this\.on\(['"]_idle['"]/, '$channel.pool(this), $match');
/** What the server answers is read where others have opened the connection. Of a row, `$1` is the command. */
const PACKETS = [
  ...['Debug', 'Basic'].map((name) =>
    change(
      new RegExp(
        `(\\w+)\\.onPacketReceive\\(\\w+, ?this\\.out[^)]*\\)(?<=receivePacket${name}\\(\\w+\\) ?\\{(?:(?!receivePacket)[^])*)`,
      ),
      '$channel.as($1, () => $match)',
    ),
  ),
  change(
    /(\w+)\.onPacketReceive\(\w+\.update\([^)]*\)[^)]*\)/,
    '$channel.as($1, () => $match)',
    true,
  ),
];

/** mariadb, the connector of MariaDB. It publishes nothing. Its CommonJS is one minified file from 3.5 on. */
export const mariadb: Injection = {
  files: [
    { path: /^lib\/cmd\/command\.js$/, texts: [COMMAND] },
    { path: /^lib\/connection\.js$/, texts: [CONNECTION] },
    // Before 3.4.1 it has other functions.
    { path: /^lib\/pool\.js$/, texts: [POOL], only: /\b_acquireIdleConnection\(/ },
    { path: /^lib\/io\/packet-input-stream\.js$/, texts: PACKETS },
    { path: /^dist\/\w+\.cjs$/, texts: [COMMAND, CONNECTION, POOL, ...PACKETS] },
  ].map((file) => ({ package: 'mariadb', ...file })),
  calls: (channels) => ({
    keep: keepCaller,
    as: asCaller,
    connection: (connection: Connection) => {
      observeConnection(channels, connection);
    },
    pool: observePool,
  }),
};
