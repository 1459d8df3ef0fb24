// A cluster of pools with named placeholders, and several statements in one query, of two requests at once.
import mysql from 'mysql2/promise';
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

export async function run() {
  const cluster = mysql.createPoolCluster();
  const server = { host: '127.0.0.1', user: 'root', database: 'test', connectionLimit: 1 };
  cluster.add('reader', { ...server, namedPlaceholders: true });
  cluster.add('writer', { ...server, multipleStatements: true });
  await Promise.all([
    own('request 1', async () => {
      const connection = await cluster.getConnection('reader');
      await connection.execute('SELECT :id AS id', { id: 7 });
      connection.release();
      own('after 1');
    }),
    own('request 2', async () => {
      const connection = await cluster.getConnection('writer');
      await connection.query('SELECT 1; SELECT 2');
      connection.release();
      own('after 2');
    }),
  ]);
  await cluster.end();
}
