// github.com/open-telemetry/opentelemetry-js-contrib/issues/1050: the first query of a pool has to connect.
import mysql from 'mysql2';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request 1
  client mysql SELECT
  own after 1
own request 2
  client mysql SELECT
  own after 2
`;
export const difference =
  'OpenTelemetry has the second callback below the request that opened the connection. The request that called is right.';

export async function run() {
  const pool = mysql.createPool({ host: '127.0.0.1', user: 'root' });
  for (const n of [1, 2]) {
    await own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          pool.query('SELECT 1', () => {
            own(`after ${n}`);
            resolve();
          });
        }),
    );
  }
  await pool.promise().end();
}
