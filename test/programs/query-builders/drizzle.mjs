// Drizzle with pg: a query and a transaction of two requests at once.
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
own request 2
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql SELECT
`;

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const database = drizzle(pool);
  await Promise.all([
    own('request 1', () => database.execute(sql`SELECT 1`).then()),
    own('request 2', () =>
      database.transaction((transaction) => transaction.execute(sql`SELECT ${2}::int`)),
    ),
  ]);
  await pool.end();
}
