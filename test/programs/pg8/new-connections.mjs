// A pool prepares each new connection in its event `connect`; a listener of a request's own query is below the request.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
  client postgresql SET
  own after 1
own request 2
  client postgresql SELECT
  own after 2
`;

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 1 });
  pool.on('connect', (client) => {
    client.query("SET application_name = 'programs'").catch(() => {});
  });
  for (const n of [1, 2]) {
    await own(`request ${n}`, async () => {
      await pool.query('SELECT 1');
      own(`after ${n}`);
    });
  }
  await pool.end();
}
