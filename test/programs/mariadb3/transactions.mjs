// Transactions, batches and streams of interleaved requests, which share a pool of two connections.
import { createPool } from 'mariadb';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request 1
  client mariadb COMMIT
  client mariadb INSERT
  client mariadb SELECT
  client mariadb START
  client mariadb UPDATE !ER_NO_SUCH_TABLE
  own row 1
  own row 1
own request 2
  client mariadb COMMIT
  client mariadb INSERT
  client mariadb SELECT
  client mariadb START
  client mariadb UPDATE !ER_NO_SUCH_TABLE
  own row 2
  own row 2
own request 3
  client mariadb COMMIT
  client mariadb INSERT
  client mariadb SELECT
  client mariadb START
  client mariadb UPDATE !ER_NO_SUCH_TABLE
  own row 3
  own row 3
own set-up
  client mariadb CREATE
own tear-down
  client mariadb DROP
`;
export const difference = 'OpenTelemetry has no instrumentation of mariadb.';

export async function run() {
  const pool = createPool({
    host: '127.0.0.1',
    user: 'root',
    database: 'test',
    connectionLimit: 2,
    initSql: 'SET NAMES utf8mb4',
  });
  const table = `tracewright_programs_${process.pid}`;
  await own('set-up', () => pool.query(`CREATE TABLE ${table} (request int, line int)`));
  const request = (n) =>
    own(`request ${n}`, async () => {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await connection.batch(`INSERT INTO ${table} VALUES (?, ?)`, [
          [n, 1],
          [n, 2],
        ]);
        const rows = connection.queryStream(`SELECT * FROM ${table} WHERE request = ?`, [n]);
        for await (const { request: of } of rows) own(`row ${of}`);
        await connection.commit();
      } finally {
        await connection.release();
      }
      await pool
        .execute('UPDATE tracewright_none SET a = 1 WHERE b = ?', [n])
        .catch(() => undefined);
    });
  await Promise.all([request(1), request(2), request(3)]);
  await own('tear-down', () => pool.query(`DROP TABLE ${table}`));
  await pool.end();
}
