// Two requests at once on a pool of two: a task, and a transaction with a savepoint that is rolled back.
import pgPromise from 'pg-promise';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
  client postgresql SELECT
  own after 1
own request 2
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql ROLLBACK
  client postgresql SAVEPOINT
  client postgresql SELECT
  client postgresql SELECT !22012
  own after 2
`;

export async function run() {
  const library = pgPromise();
  const database = library({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 2 });
  await Promise.all([
    own('request 1', async () => {
      await database.task(async (task) => {
        await task.one('SELECT $1::int AS id', [1]);
        await task.any('SELECT 2');
      });
      own('after 1');
    }),
    own('request 2', async () => {
      await database.tx(async (transaction) => {
        await transaction.one('SELECT 1 AS id');
        await transaction.tx((nested) => nested.one('SELECT 1 / 0')).catch(() => {});
      });
      own('after 2');
    }),
  ]);
  library.end();
}
