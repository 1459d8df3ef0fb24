// github.com/open-telemetry/opentelemetry-js-contrib/issues/789: a query with values and without a callback is streamed.
import { once } from 'node:events';
import mysql from 'mysql2';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request 1
  client mysql SELECT
  own row 1
own request 2
  client mysql SELECT
  own row 2
`;
export const difference =
  'OpenTelemetry has what the events start below who opened the connection, or below none.';

export async function run() {
  const pool = mysql.createPool({ host: '127.0.0.1', user: 'root', connectionLimit: 1 });
  const request = (n) =>
    own(`request ${n}`, async () => {
      const rows = pool.query('SELECT 1 + ? AS solution', [n]).stream();
      rows.once('data', () => own(`row ${n}`));
      await once(rows, 'end');
    });
  await Promise.all([request(1), request(2)]);
  await pool.promise().end();
}
