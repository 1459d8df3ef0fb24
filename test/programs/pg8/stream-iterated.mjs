// A stream of rows, read by `for await`, with a query for each row on another connection.
import pg from 'pg';
import QueryStream from 'pg-query-stream';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request
  client postgresql SELECT
  client postgresql SELECT
  client postgresql SELECT
`;
export const difference = 'OpenTelemetry has no query of a stream.';

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const client = await own('open', () => pool.connect());
  await own('request', async () => {
    const stream = client.query(new QueryStream('SELECT generate_series(1, 2) AS id'));
    for await (const { id } of stream) await pool.query('SELECT $1::int', [id]);
  });
  client.release();
  await pool.end();
}
