// The server ends a connection of a pool: its error is of no request, and the next one gets a new connection.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own lost
own request 1
  client postgresql SELECT
own request 2
  client postgresql SELECT
own request 3
  client postgresql SELECT
`;
export const difference =
  'OpenTelemetry has the lost connection below the request that opened it. It is of no request.';

export async function run() {
  const server = { host: '127.0.0.1', user: 'postgres', database: 'test' };
  const pool = new pg.Pool(server);
  const other = new pg.Client(server);
  await other.connect();
  const lost = new Promise((resolve) => {
    pool.on('error', () => {
      own('lost');
      resolve();
    });
  });
  const { pid } = (await own('request 1', () => pool.query('SELECT pg_backend_pid() AS pid')))
    .rows[0];
  await own('request 2', () => other.query(`SELECT pg_terminate_backend(${pid})`));
  await lost;
  await own('request 3', () => pool.query('SELECT 1'));
  await pool.end();
  await other.end();
}
