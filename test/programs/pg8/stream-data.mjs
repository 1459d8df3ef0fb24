// Streams of rows, read by listeners, on a connection that another request has opened.
import { once } from 'node:events';
import pg from 'pg';
import QueryStream from 'pg-query-stream';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request 1
  client postgresql SELECT
  own end 1
  own row 1
  own row 1
own request 2
  client postgresql SELECT
  own end 2
  own row 2
  own row 2
`;
export const difference =
  'OpenTelemetry has no query of a stream, and its rows below who opened the connection.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', () => client.connect());
  const request = (n) =>
    own(`request ${n}`, () => {
      const stream = client.query(new QueryStream('SELECT generate_series(1, 2)'));
      stream.on('data', () => own(`row ${n}`));
      stream.on('end', () => own(`end ${n}`));
      return once(stream, 'close');
    });
  await Promise.all([request(1), request(2)]);
  await client.end();
}
