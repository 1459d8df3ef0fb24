import type { Attributes } from './engine/attribute-names.js';
import { failureOf } from './engine/failure.js';
import { number, requiredText, text } from './engine/payload.js';
import { queryDescription } from './engine/sql.js';
import type { Failure, Library, Operation } from './library.js';

interface Server {
  database?: unknown;
  /** A host, or the path of a socket. */
  serverAddress?: unknown;
  serverPort?: unknown;
}

/** Its `query` has the values in it, unless it is that of a prepared statement. */
interface Query extends Server {
  query?: unknown;
}

function attributesOf({ database, serverAddress, serverPort }: Server): Attributes {
  return {
    'db.system.name': 'mysql',
    'db.namespace': text(database),
    'server.address': text(serverAddress),
    'server.port': number(serverPort),
  };
}

/** `code` is the name of the server's error (`ER_DUP_ENTRY`), `errno` its number. */
function failure(error: unknown): Failure {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  const isOfServer = typeof errno === 'number' && errno > 0 && typeof sqlState === 'string';
  return { ...failureOf(error), ...(isOfServer ? { status: String(errno) } : {}) };
}

function statement(channel: string): Operation<Query> {
  return {
    channel,
    kind: 'client',
    callsBack: true,
    describe(message, options) {
      const sql = requiredText(message.query, 'query');
      return queryDescription('mysql', sql, attributesOf(message), options);
    },
    failure,
  };
}

/** Waiting for a connection of the pool, if there was anything to wait for. */
const acquire: Operation<Server & { result?: unknown }> = {
  channel: 'mysql2:pool:connect',
  kind: 'internal',
  callsBack: true,
  atLeastMs: 1,
  describe: (message) => ({ name: 'mysql pool', attributes: attributesOf(message) }),
  acquired: ({ result }) => result,
  failure,
};

const connect: Operation<Server> = {
  channel: 'mysql2:connect',
  kind: 'client',
  describe: (message) => ({ name: 'mysql connect', attributes: attributesOf(message) }),
  failure,
};

export const mysql2: Library = {
  name: 'mysql2',
  operations: [statement('mysql2:query'), statement('mysql2:execute'), acquire, connect],
};
