import type { Attributes } from './engine/attribute-names.js';
import { failureOf } from './engine/failure.js';
import { number, requiredText, text } from './engine/payload.js';
import type { Description, Failure, Library, Operation } from './library.js';

/** Its `args` are filters, documents and pipelines: never read. */
interface Call {
  operation?: unknown;
  collection?: unknown;
  database?: unknown;
  serverAddress?: unknown;
  serverPort?: unknown;
}

function description(message: Call): Description {
  const operation = requiredText(message.operation, 'operation');
  const collection = text(message.collection);
  const attributes: Attributes = {
    'db.system.name': 'mongodb',
    'db.namespace': text(message.database),
    'db.collection.name': collection,
    'db.operation.name': operation,
    'server.address': text(message.serverAddress),
    'server.port': number(message.serverPort),
  };
  return {
    name: collection === undefined ? operation : `${operation} ${collection}`,
    attributes,
  };
}

/** The server's errors have a number: `11000` for a duplicate key. */
function failure(error: unknown): Failure {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== 'number' || !Number.isInteger(code)) return failureOf(error);
  return { type: String(code), status: String(code) };
}

/** Calls of the driver, and the program's own middleware, are below it. */
function call(channel: string): Operation<Call> {
  return { channel, kind: 'client', nests: true, describe: description, failure };
}

/** The next document of a cursor, if it had to be fetched. */
const next: Operation<Call> = { ...call('mongoose:cursor:next'), atLeastMs: 1 };

export const mongoose: Library = {
  name: 'mongoose',
  operations: [
    call('mongoose:query'),
    call('mongoose:aggregate'),
    call('mongoose:model:save'),
    call('mongoose:model:insertMany'),
    call('mongoose:model:bulkWrite'),
    next,
  ],
};
