// Two requests share one connection at once, with promises, by text and by prepared statement.
import mysql from 'mysql2/promise';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own open
own request 1
  client mysql SELECT
  own after 1
own request 2
  client mysql SELECT
  own after 2
`;

export async function run() {
  const connection = await own('open', () =>
    mysql.createConnection({ host: '127.0.0.1', user: 'root', database: 'test' }),
  );
  const request = (n, query) =>
    own(`request ${n}`, async () => {
      await query();
      own(`after ${n}`);
    });
  await Promise.all([
    request(1, () => connection.query('SELECT 1')),
    request(2, () => connection.execute('SELECT ?', [2])),
  ]);
  await connection.end();
}
