// Callbacks and rows on a connection and on a pool of one, both of which the first request opens. The pool sends a
// ROLLBACK after a statement that has failed.
import { once } from 'node:events';
import { createConnection, createPool } from 'mariadb/callback';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request 1
  client mariadb ROLLBACK
  client mariadb SELECT
  client mariadb SELECT
  client mariadb SELECT !ER_BAD_FIELD_ERROR
  own answer 1
  own connection 1
  own failure 1
  own row 1
own request 2
  client mariadb ROLLBACK
  client mariadb SELECT
  client mariadb SELECT
  client mariadb SELECT !ER_BAD_FIELD_ERROR
  own answer 2
  own connection 2
  own failure 2
  own row 2
`;
export const difference =
  'OpenTelemetry has no queries, and the callbacks of the second request below the first. Each is its caller’s.';

export async function run() {
  const server = { host: '127.0.0.1', user: 'root' };
  let connection;
  let pool;
  const request = (n) =>
    own(`request ${n}`, async () => {
      connection ??= createConnection(server);
      await new Promise((resolve) => {
        connection.query('SELECT SLEEP(0.02)', () => {
          own(`answer ${n}`);
          resolve();
        });
      });
      const rows = connection.query('SELECT 1 AS one');
      rows.on('data', () => own(`row ${n}`));
      await once(rows, 'end');
      pool ??= createPool({ ...server, connectionLimit: 1 });
      await new Promise((resolve) => {
        pool.getConnection((_, pooled) => {
          own(`connection ${n}`);
          pooled.query('SELECT nothing', () => {
            own(`failure ${n}`);
            pooled.release();
            resolve();
          });
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  connection.end();
  await new Promise((resolve) => {
    pool.end(resolve);
  });
}
