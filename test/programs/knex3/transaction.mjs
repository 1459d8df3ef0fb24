// Transactions of two requests on a pool of one connection.
import knex from 'knex';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql SELECT
  client postgresql SELECT
  own after 1
own request 2
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql SELECT
  own after 2
`;
export const difference =
  'OpenTelemetry records the query builder too, as a call of its own. The server was asked once.';

export async function run() {
  const connection = { host: '127.0.0.1', user: 'postgres', database: 'test' };
  const database = knex({ client: 'pg', connection, pool: { min: 0, max: 1 } });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await database.transaction((transaction) => transaction.raw('SELECT ?::int', [n]));
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await database.destroy();
}
