import type { Attributes } from './engine/attribute-names.js';
import { failureOf, messageOf } from './engine/failure.js';
import { KeptDescriptions } from './engine/kept-descriptions.js';
import { number, requiredObject, requiredText, text } from './engine/payload.js';
import { poolWait } from './engine/pool-wait.js';
import { queryDescription } from './engine/sql.js';
import type { Failure, Library, Operation } from './library.js';

/** The message of an injected channel for a call. */
interface Call {
  arguments?: unknown;
  self?: unknown;
  result?: unknown;
}

interface Client {
  host?: unknown;
  port?: unknown;
  database?: unknown;
}

function attributesOf({ host, port, database }: Client): Attributes {
  return {
    'db.system.name': 'postgresql',
    'db.namespace': text(database),
    'server.address': text(host),
    'server.port': number(port),
  };
}

/** A query that the program passes as an object instead of a text. */
interface Submittable {
  text?: unknown;
  submit?: unknown;
  /** Of a stream of rows. */
  cursor?: { text?: unknown };
}

/** Of a text, `{ text, values }`, or an object that runs itself, such as a cursor. */
function queryOf(call: Call): string | undefined {
  // By index: a pattern would make an iterator.
  const query = (requiredObject(call.arguments, 'arguments') as readonly unknown[])[0];
  if (typeof query !== 'object' || query === null) return text(query);
  const { text: sql, submit } = query as Submittable;
  if (typeof submit !== 'function') return requiredText(sql, 'text');
  return text(sql ?? (query as Submittable).cursor?.text);
}

const SQL_STATE = /^[\dA-Z]{5}$/;

/** The server's errors have its SQLSTATE as code. */
function failure(error: unknown): Failure {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && SQL_STATE.test(code)) return { type: code, status: code };
  return messageOf(error) === 'Query read timeout' ? { type: 'timeout' } : failureOf(error);
}

const queries = new KeptDescriptions((sql, server, options) => {
  const { database, serverAddress: host, serverPort: port } = server;
  return queryDescription('postgresql', sql, attributesOf({ database, host, port }), options);
});

/** Until the server is ready for the next query: a cursor has read all, or is closed. */
const query: Operation<Call> = {
  channel: 'orchestrion:pg:query',
  kind: 'client',
  callsBack: true,
  describe(call, options) {
    const sql = queryOf(call);
    if (sql === undefined) return undefined;
    const { database, host, port } = requiredObject(call.self, 'client') as Client;
    return queries.of(sql, database, host, port, options);
  },
  failure,
};

const connect: Operation<Call> = {
  channel: 'orchestrion:pg:connect',
  kind: 'client',
  connects: true,
  callsBack: true,
  describe: ({ self }) => ({
    name: 'postgresql connect',
    attributes: attributesOf(requiredObject(self, 'client')),
  }),
  failure,
};

/** Waiting for a connection of the pool, if there was anything to wait for. */
const acquire: Operation<Call> = {
  ...poolWait('orchestrion:pg-pool:connect', 'postgresql pool', ({ self }: Call) => {
    const { options } = requiredObject(self, 'pool') as { options?: Client };
    return attributesOf(options ?? {});
  }),
  failure,
};

/** `pg` and its pool, into which the channels are injected. */
export const pg: Library = { name: 'pg', operations: [query, connect, acquire] };

/** A query that is sent: src/libraries/injected has `postgres` publish it. */
interface Sent extends Client {
  query?: unknown;
}

const sent: Operation<Sent> = {
  channel: 'postgres:query',
  kind: 'client',
  describe({ query: sql, database, host, port }, options) {
    return queries.of(requiredText(sql, 'query'), database, host, port, options);
  },
  failure,
};

const sentLater: Operation<Sent> = {
  ...poolWait('postgres:pool', 'postgresql pool', attributesOf),
  failure,
};

/** `postgres`, also called postgres.js. */
export const postgres: Library = { name: 'postgres', operations: [sent, sentLater] };
