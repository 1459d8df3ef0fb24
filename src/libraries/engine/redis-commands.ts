import type { Failure, Operation } from '../library.js';
import type { Attributes } from './attribute-names.js';
import { BoundedCache } from '../../core/bounded-cache.js';
import * as names from './conventions.js';
import { failureOf, messageOf } from './failure.js';
import { KeptDescriptions } from './kept-descriptions.js';
import type { Server } from './kept-descriptions.js';
import { number, requiredText, text } from './payload.js';

/** Its `args` are keys and more, whatever their name says: never read. */
interface Command extends Server {
  command?: unknown;
}

/** Several commands that are sent at once. */
interface Batch extends Server {
  batchMode?: unknown;
  batchSize?: unknown;
}

const COMMAND = /^[A-Za-z][\w.-]{0,47}$/;
const UNKNOWN_COMMAND = 'OTHER';

const commands = new BoundedCache(512, 64, (command) =>
  COMMAND.test(command) ? command.toUpperCase() : UNKNOWN_COMMAND,
);

/** The name of a command as the conventions have it: `GET`. */
function commandName(command: string): string {
  return commands.of(command);
}

/** First words of a server's errors. Scripts send errors of any form, with values in them. */
const PREFIXES = new Set(
  (
    'ASK BUSY BUSYGROUP BUSYKEY CLUSTERDOWN CROSSSLOT DENIED ERR EXECABORT INPROG INVALIDOBJ IOERR LOADING ' +
    'MASTERDOWN MISCONF MOVED NOADDR NOAUTH NOGOODSLAVE NOGROUP NOMASTERLINK NOPERM NOPROTO NOQUORUM ' +
    'NOREPLICAS NOSCRIPT NOTBUSY NOTREADY OOM READONLY TRYAGAIN UNBLOCKED UNKILLABLE WRONGPASS WRONGTYPE'
  ).split(' '),
);

/** The message of ioredis when a command has timed out. Its error has no code. */
const TIMED_OUT = 'Command timed out';

/** The prefix of an error of the server, else the error's code or class. */
function redisFailure(error: unknown): Failure {
  const message = messageOf(error);
  if (message === TIMED_OUT) return { type: 'timeout' };
  const end = message.indexOf(' ');
  const prefix = end === -1 ? message : message.slice(0, end);
  return PREFIXES.has(prefix) ? { type: prefix, status: prefix } : failureOf(error);
}

/** @param operation the command, or what several are sent as: `PIPELINE`. */
function redisAttributes(
  operation: string | undefined,
  { database, serverAddress, serverPort }: Server,
): Attributes {
  return {
    'db.system.name': 'redis',
    'db.operation.name': operation,
    'db.namespace': typeof database === 'number' ? databaseName(database) : undefined,
    'server.address': text(serverAddress),
    'server.port': number(serverPort),
  };
}

const DATABASES = Array.from({ length: 16 }, (_, index) => String(index));

function databaseName(database: number): string {
  return DATABASES[database] ?? String(database);
}

/** A command, published on `channel`. */
export function redisCommand(channel: string): Operation<Command> {
  const descriptions = new KeptDescriptions((command, server) => {
    const name = commandName(command);
    return { name, attributes: redisAttributes(name, server) };
  });
  return {
    channel,
    kind: 'client',
    asksOnce: true,
    countedAlone: true,
    describe(message, options) {
      const command = requiredText(message.command, 'command');
      const { database, serverAddress, serverPort } = message;
      return descriptions.of(command, database, serverAddress, serverPort, options);
    },
    failure: redisFailure,
  };
}

/** `MULTI` or `PIPELINE`, published on `channel`. */
export function redisBatch(channel: string): Operation<Batch> {
  return {
    channel,
    kind: 'client',
    nests: true,
    asksOnce: true,
    countedAlone: true,
    describe(message) {
      const name = commandName(requiredText(message.batchMode, 'batchMode'));
      const attributes = redisAttributes(name, message);
      attributes[names.DB_BATCH_SIZE] = number(message.batchSize);
      return { name, attributes };
    },
    failure: redisFailure,
  };
}

/** Making a connection, published on `channel`. */
export function redisConnect(channel: string): Operation<Server> {
  return {
    channel,
    kind: 'client',
    connects: true,
    describe: (message) => ({
      name: 'redis connect',
      attributes: redisAttributes(undefined, message),
    }),
    failure: redisFailure,
  };
}
