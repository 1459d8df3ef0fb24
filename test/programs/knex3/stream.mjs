// A stream of knex, on a connection that another request has opened.
import { once } from 'node:events';
import knex from 'knex';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
  client postgresql SELECT
  client postgresql SELECT
own request
  client postgresql SELECT
  own row
  own row
`;
export const difference =
  'OpenTelemetry has no query of a stream, and its rows below who opened the connection. The request is right.';

export async function run() {
  const connection = { host: '127.0.0.1', user: 'postgres', database: 'test' };
  const database = knex({ client: 'pg', connection, pool: { min: 0, max: 1 } });
  await own('open', () => database.raw('SELECT 1'));
  await own('request', () => {
    const stream = database.raw('SELECT generate_series(1, 2)').stream();
    stream.on('data', () => own('row'));
    return once(stream, 'close');
  });
  await database.destroy();
}
