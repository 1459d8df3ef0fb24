// Kysely on pg: rows by a cursor, and a transaction, of two requests at once.
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
  own row 1
  own row 2
own request 2
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql SELECT
  own after
`;
export const difference = 'OpenTelemetry has no query of a cursor.';

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const database = new Kysely({ dialect: new PostgresDialect({ pool, cursor: Cursor }) });
  await Promise.all([
    own('request 1', async () => {
      const rows = database
        .selectFrom(sql`generate_series(1, 2)`.as('series'))
        .select(sql`series`.as('id'))
        .stream(1);
      for await (const { id } of rows) own(`row ${id}`);
    }),
    own('request 2', async () => {
      await database.transaction().execute((transaction) => sql`SELECT 1`.execute(transaction));
      own('after');
    }),
  ]);
  await database.destroy();
}
