// A pool of one connection: each request gets it when the one before has released it.
import mysql from 'mysql';
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
  'OpenTelemetry has the callbacks below the request that opened the connection. The request that called is right.';

export async function run() {
  const pool = mysql.createPool({
    ...{ host: '127.0.0.1', user: 'root', database: 'test' },
    connectionLimit: 1,
  });
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          pool.getConnection((_, connection) => {
            connection.query('SELECT 1', () => {
              own(`after ${n}`);
              connection.release();
              resolve();
            });
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
  await new Promise((resolve) => pool.end(resolve));
}
