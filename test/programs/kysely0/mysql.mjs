// Kysely on mysql2: a stream of rows and a transaction that fails, of two requests at once.
import { Kysely, MysqlDialect, sql } from 'kysely';
import { createPool } from 'mysql2';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request 1
  client mysql SELECT
  own row 1
own request 2
  client mysql BEGIN
  client mysql ROLLBACK
  client mysql SELECT !ER_NO_SUCH_TABLE
  own after
`;
export const difference = 'OpenTelemetry has no query of a stream.';

export async function run() {
  const pool = createPool({ host: '127.0.0.1', user: 'root', database: 'test' });
  const database = new Kysely({ dialect: new MysqlDialect({ pool }) });
  await Promise.all([
    own('request 1', async () => {
      const rows = database.selectNoFrom(sql`1`.as('id')).stream();
      for await (const { id } of rows) own(`row ${id}`);
    }),
    own('request 2', async () => {
      await database
        .transaction()
        .execute((transaction) => sql`SELECT * FROM no_such_table`.execute(transaction))
        .catch(() => {});
      own('after');
    }),
  ]);
  await database.destroy();
}
