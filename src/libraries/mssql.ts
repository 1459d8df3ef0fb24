import type { Attributes } from './engine/attribute-names.js';
import { BoundedCache } from '../core/bounded-cache.js';
import * as names from './engine/conventions.js';
import { failureOf } from './engine/failure.js';
import { number, requiredText, text, UnknownPayload } from './engine/payload.js';
import { poolWait } from './engine/pool-wait.js';
import { queryDescription } from './engine/sql.js';
import type { Description, Failure, Library, LibraryOptions, Operation } from './library.js';

/** Which pool it is of. Only the pool's own connecting says where that pool's server is. */
interface OfPool {
  poolId?: unknown;
}

interface Connect extends OfPool {
  server?: unknown;
  port?: unknown;
  database?: unknown;
}

/** Its text may have values in it. */
interface Statement extends OfPool {
  command?: unknown;
  statement?: unknown;
}

interface Server {
  server: string | undefined;
  port: number | undefined;
  database: string | undefined;
}

/** Pools that are remembered: a program has few. */
const MAX_POOLS = 256;
const servers = new Map<number, Server>();

function notice({ poolId, server, port, database }: Connect): void {
  if (typeof poolId !== 'number') return;
  if (servers.size >= MAX_POOLS && !servers.has(poolId)) {
    for (const oldest of servers.keys()) {
      servers.delete(oldest);
      break;
    }
  }
  servers.set(poolId, { server: text(server), port: number(port), database: text(database) });
}

function attributesOf({ poolId }: OfPool): Attributes {
  const server = typeof poolId === 'number' ? servers.get(poolId) : undefined;
  return {
    'db.system.name': 'microsoft.sql_server',
    'db.namespace': server?.database,
    'server.address': server?.server,
    'server.port': server?.port,
  };
}

/** `number` is the server's (`2627` for a duplicate key), `code` only the kind of the call. */
function failure(error: unknown): Failure {
  const { number: ofServer } = (error ?? {}) as { number?: unknown };
  const isOfServer = typeof ofServer === 'number' && Number.isInteger(ofServer) && ofServer > 0;
  return isOfServer ? { type: String(ofServer), status: String(ofServer) } : failureOf(error);
}

function statement(channel: string, key: 'command' | 'statement'): Operation<Statement> {
  return {
    channel,
    kind: 'client',
    nests: true,
    callsBack: true,
    describe: (message, options) => sqlDescription(message, message[key], key, options),
    failure,
  };
}

function sqlDescription(
  message: OfPool,
  sql: unknown,
  key: string,
  options: LibraryOptions,
): Description {
  return queryDescription('mssql', requiredText(sql, key), attributesOf(message), options);
}

/** A statement that the server is to keep. */
const prepare: Operation<Statement> = {
  ...statement('mssql:prepared-statement:prepare', 'statement'),
  describe(message, options) {
    const { name, attributes } = sqlDescription(message, message.statement, 'statement', options);
    return { name: `prepare ${name}`, attributes };
  },
};

const NAME = /^[\w$#@.[\] -]{1,128}$/;
/** `execute` with more than a name in its argument is text of the program: it may have values. */
const procedures = new BoundedCache(256, 128, (name) => (NAME.test(name) ? name : ''));

const execute: Operation<OfPool & { procedure?: unknown }> = {
  channel: 'mssql:execute',
  kind: 'client',
  nests: true,
  callsBack: true,
  describe(message) {
    const procedure = procedures.of(requiredText(message.procedure, 'procedure'));
    const attributes = attributesOf(message);
    attributes[names.DB_OPERATION] = 'EXECUTE';
    attributes[names.DB_PROCEDURE] = procedure === '' ? undefined : procedure;
    return { name: `EXECUTE ${procedure}`.trimEnd(), attributes };
  },
  failure,
};

const bulk: Operation<OfPool & { table?: unknown; rowCount?: unknown }> = {
  channel: 'mssql:bulk',
  kind: 'client',
  nests: true,
  callsBack: true,
  describe(message) {
    const table = requiredText(message.table, 'table').replaceAll(/[[\]]/g, '').slice(0, 128);
    const attributes = attributesOf(message);
    attributes[names.DB_OPERATION] = 'BULK INSERT';
    attributes[names.DB_COLLECTION] = table;
    attributes[names.DB_BATCH_SIZE] = number(message.rowCount);
    return { name: `BULK INSERT ${table}`, attributes };
  },
  failure,
};

function requirePool({ poolId }: OfPool): void {
  if (typeof poolId !== 'number') throw new UnknownPayload('poolId');
}

/** Waiting for a connection of the pool, if there was anything to wait for. */
const acquire: Operation<OfPool & { result?: unknown }> = {
  ...poolWait('mssql:pool:acquire', 'mssql pool', (message: OfPool) => {
    requirePool(message);
    return attributesOf(message);
  }),
  failure,
};

const connect: Operation<Connect> = {
  channel: 'mssql:connect',
  kind: 'client',
  callsBack: true,
  notice,
  describe(message) {
    requirePool(message);
    return { name: 'mssql connect', attributes: attributesOf(message) };
  },
  failure,
};

export const mssql: Library = {
  name: 'mssql',
  operations: [
    statement('mssql:query', 'command'),
    statement('mssql:batch', 'command'),
    execute,
    bulk,
    prepare,
    statement('mssql:prepared-statement:execute', 'statement'),
    acquire,
    connect,
  ],
};
