import type { Attributes } from './engine/attribute-names.js';
import { failureOf } from './engine/failure.js';
import { KeptDescriptions } from './engine/kept-descriptions.js';
import type { Server } from './engine/kept-descriptions.js';
import { number, requiredText, text } from './engine/payload.js';
import { poolWait } from './engine/pool-wait.js';
import { queryDescription } from './engine/sql.js';
import type { Failure, Library, Operation } from './library.js';

/** Its `query` has the values in it, unless it is that of a prepared statement. */
interface Query extends Server {
  query?: unknown;
}

function attributesOf(
  { database, serverAddress, serverPort }: Server,
  system = 'mysql',
): Attributes {
  return {
    'db.system.name': system,
    'db.namespace': text(database),
    'server.address': text(serverAddress),
    'server.port': number(serverPort),
  };
}

/** Errors of mariadb itself have numbers from here on. */
const OWN_ERRORS = 45_000;

/** `code` is the name of the server's error (`ER_DUP_ENTRY`), `errno` its number. */
function failure(error: unknown): Failure {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  const isOfServer =
    typeof errno === 'number' && errno > 0 && errno < OWN_ERRORS && typeof sqlState === 'string';
  return { ...failureOf(error), ...(isOfServer ? { status: String(errno) } : {}) };
}

function statement(channel: string, system?: string): Operation<Query> {
  const queries = new KeptDescriptions((sql, server, options) =>
    queryDescription('mysql', sql, attributesOf(server, system), options),
  );
  return {
    channel,
    kind: 'client',
    callsBack: true,
    describe(message, options) {
      const sql = requiredText(message.query, 'query');
      const { database, serverAddress, serverPort } = message;
      return queries.of(sql, database, serverAddress, serverPort, options);
    },
    failure,
  };
}

/** Waiting for a connection of the pool, if there was anything to wait for. */
function acquire(channel: string, system = 'mysql'): Operation<Server & { result?: unknown }> {
  const name = `${system} pool`;
  return { ...poolWait(channel, name, (server) => attributesOf(server, system)), failure };
}

const connect: Operation<Server> = {
  channel: 'mysql2:connect',
  kind: 'client',
  describe: (message) => ({ name: 'mysql connect', attributes: attributesOf(message) }),
  failure,
};

export const mysql2: Library = {
  name: 'mysql2',
  operations: [
    statement('mysql2:query'),
    statement('mysql2:execute'),
    acquire('mysql2:pool:connect'),
    connect,
  ],
};

/** The client before mysql2, into which the channels are injected. */
export const mysql: Library = {
  name: 'mysql',
  operations: [statement('mysql:query'), acquire('mysql:pool:connect')],
};

/** MariaDB's own connector, into which the channels are injected. */
export const mariadb: Library = {
  name: 'mariadb',
  operations: [statement('mariadb:query', 'mariadb'), acquire('mariadb:pool:connect', 'mariadb')],
};
