// TypeORM with pg: a query and a transaction of two requests at once.
import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
  client postgresql SELECT
  client postgresql SELECT
own request 1
  client postgresql SELECT
own request 2
  client postgresql COMMIT
  client postgresql SELECT
  client postgresql START
`;

export async function run() {
  const database = new DataSource({
    type: 'postgres',
    host: '127.0.0.1',
    username: 'postgres',
    database: 'test',
  });
  await own('open', () => database.initialize());
  await Promise.all([
    own('request 1', () => database.query('SELECT 1')),
    own('request 2', () => database.transaction((manager) => manager.query('SELECT 2'))),
  ]);
  await database.destroy();
}
