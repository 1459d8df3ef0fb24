// A transaction that fails and is rolled back.
import mysql from 'mysql2/promise';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request
  client mysql ROLLBACK
  client mysql SELECT !ER_NO_SUCH_TABLE
  client mysql START
`;

export async function run() {
  const pool = mysql.createPool({ host: '127.0.0.1', user: 'root', database: 'test' });
  await own('request', async () => {
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query('SELECT * FROM no_such_table').catch(() => connection.rollback());
    connection.release();
  });
  await pool.end();
}
