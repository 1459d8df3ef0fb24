// Queries without a callback emit their rows, on a connection that another request has opened.
import { once } from 'node:events';
import mysql from 'mysql';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own open
own request 1
  client mysql SELECT
  own end 1
  own row 1
own request 2
  client mysql SELECT
  own end 2
  own row 2
`;
export const difference =
  'OpenTelemetry has the events below who opened the connection. The request that called is right.';

export async function run() {
  const connection = own('open', () =>
    mysql.createConnection({ host: '127.0.0.1', user: 'root', database: 'test' }),
  );
  const request = (n) =>
    own(`request ${n}`, () => {
      const query = connection.query('SELECT 1');
      query.on('result', () => own(`row ${n}`));
      query.on('end', () => own(`end ${n}`));
      return once(query, 'end');
    });
  await Promise.all([request(1), request(2)]);
  connection.destroy();
}
