// Two transactions at once, each on a connection of its own, one of them rolled back.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql SELECT
own request 2
  client postgresql BEGIN
  client postgresql ROLLBACK
  client postgresql SELECT !22012
`;

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const request = (n, sql) =>
    own(`request ${n}`, async () => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query(sql);
        await client.query('COMMIT');
      } catch {
        await client.query('ROLLBACK');
      } finally {
        client.release();
      }
    });
  await Promise.all([request(1, 'SELECT 1'), request(2, 'SELECT 1 / 0')]);
  await pool.end();
}
