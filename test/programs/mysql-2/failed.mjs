// Statements that fail: with a callback, with a listener, and in a transaction of the pool.
import mysql from 'mysql';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own request 1
  client mysql SELECT !ER_NO_SUCH_TABLE
  own failed 1
own request 2
  client mysql SELECT !ER_NO_SUCH_TABLE
  own failed 2
own request 3
  client mysql INSERT !ER_NO_SUCH_TABLE
  client mysql ROLLBACK
  client mysql START
  own failed 3
  own rolled back
`;
export const difference =
  'OpenTelemetry loses the spans of statements that fail, and has the callbacks of one request below another.';

export async function run() {
  const pool = mysql.createPool({
    ...{ host: '127.0.0.1', user: 'root', database: 'test' },
    connectionLimit: 2,
  });
  const withCallback = own(
    'request 1',
    () =>
      new Promise((resolve) => {
        pool.query('SELECT * FROM no_such WHERE id = ?', [1], (error) => {
          own('failed 1');
          resolve(error);
        });
      }),
  );
  const withListener = own(
    'request 2',
    () =>
      new Promise((resolve) => {
        const query = pool.query('SELECT * FROM no_such');
        query.on('error', () => own('failed 2')).on('end', resolve);
      }),
  );
  const inTransaction = own(
    'request 3',
    () =>
      new Promise((resolve) => {
        pool.getConnection((_, connection) => {
          connection.beginTransaction(() => {
            connection.query('INSERT INTO no_such SET ?', { id: 1 }, () => {
              own('failed 3');
              connection.rollback(() => {
                own('rolled back');
                connection.release();
                resolve();
              });
            });
          });
        });
      }),
  );
  await Promise.all([withCallback, withListener, inTransaction]);
  await new Promise((resolve) => pool.end(resolve));
}
