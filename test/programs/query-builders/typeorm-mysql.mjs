// TypeORM on mysql2: a repository's transaction and a query builder's stream, of two requests at once.
import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
client mysql SELECT
own request 1
  client mysql COMMIT
  client mysql SELECT
  client mysql START
  own after 1
own request 2
  client mysql SELECT
  own after 2
`;

export async function run() {
  const database = new DataSource({
    type: 'mysql',
    connectorPackage: 'mysql2',
    host: '127.0.0.1',
    username: 'root',
    database: 'test',
  });
  await database.initialize();
  await Promise.all([
    own('request 1', async () => {
      await database.transaction((manager) => manager.query('SELECT 1'));
      own('after 1');
    }),
    own('request 2', async () => {
      await database.query('SELECT 2');
      own('after 2');
    }),
  ]);
  await database.destroy();
}
