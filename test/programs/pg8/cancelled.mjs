// A query that another request cancels.
import pg from 'pg';
import { own, until } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own cancel
  client postgresql DO
own request
  client postgresql SELECT !57014
  own after
`;

export async function run() {
  const server = { host: '127.0.0.1', user: 'postgres', database: 'test' };
  const client = new pg.Client(server);
  const other = new pg.Client(server);
  await client.connect();
  await other.connect();
  let isOver = false;
  const request = own('request', async () => {
    await client.query('SELECT pg_sleep(60)').catch(() => own('after'));
    isOver = true;
  });
  // A backend that does not run the query yet has nothing to cancel.
  await own('cancel', () =>
    other.query(`DO $$ BEGIN
      WHILE NOT EXISTS (SELECT FROM pg_stat_activity
        WHERE pid = ${client.processID} AND state = 'active' AND query LIKE '%pg_sleep%') LOOP
        PERFORM pg_sleep(0.001);
        PERFORM pg_stat_clear_snapshot();
      END LOOP;
      PERFORM pg_cancel_backend(${client.processID});
    END $$`),
  );
  await until(() => isOver);
  await request;
  await client.end();
  await other.end();
}
