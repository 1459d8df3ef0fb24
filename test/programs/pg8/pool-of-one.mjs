// A pool of one connection: each request gets it when the one before has released it.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
  own after 1
own request 2
  client postgresql SELECT
  own after 2
own request 3
  client postgresql SELECT
  own after 3
`;

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 1 });
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          pool.connect((_, client, release) => {
            client.query('SELECT 1', () => {
              own(`after ${n}`);
              release();
              resolve();
            });
          });
        }),
    );
  await Promise.all([request(1), request(2), request(3)]);
  await pool.end();
}
