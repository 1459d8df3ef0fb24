import { requiredText, text } from './engine/payload.js';
import { queryDescription } from './engine/sql.js';
import type { Dialect } from './engine/sql-words.js';
import type { Library, Operation } from './library.js';

/** Its `query` has the values in it if the program has put them there. */
interface Query {
  query?: unknown;
  dialect?: unknown;
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  sqlite: 'sqlite',
  libsql: 'sqlite',
  mysql: 'mysql',
  postgresql: 'postgresql',
};

/** Calls of the connector's own library are below it. */
const query: Operation<Query> = {
  channel: 'db0.query',
  kind: 'client',
  nests: true,
  describe(message, options) {
    const sql = requiredText(message.query, 'query');
    const dialect = text(message.dialect) ?? '';
    const known = DIALECTS[dialect];
    if (known !== undefined) {
      return queryDescription(known, sql, { 'db.system.name': known }, options);
    }
    return { name: 'query', attributes: { 'db.system.name': 'other_sql' } };
  },
};

export const db0: Library = { name: 'db0', operations: [query] };
