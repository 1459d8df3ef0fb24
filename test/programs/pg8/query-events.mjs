// A Query without a callback emits its rows and its end.
import { once } from 'node:events';
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request 1
  client postgresql SELECT
  own end 1
  own row 1
own request 2
  client postgresql SELECT
  own end 2
  own row 2
`;
export const difference =
  'OpenTelemetry has no query without a callback, and its events below who opened the connection.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', () => client.connect());
  const request = (n) =>
    own(`request ${n}`, () => {
      const query = client.query(new pg.Query('SELECT 1'));
      query.on('row', () => own(`row ${n}`));
      query.on('end', () => own(`end ${n}`));
      return once(query, 'end');
    });
  await Promise.all([request(1), request(2)]);
  await client.end();
}
