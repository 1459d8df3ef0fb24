// A pool of clients: two requests at once, one with a transaction that watches a key, one that scans.
import { createClientPool } from 'redis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own open
  client redis PING
own request 1
  client redis GET
  client redis MULTI
  client redis WATCH
  own after 1
own request 2
  client redis SCAN
  own after 2
`;

export async function run() {
  const pool = createClientPool({}, { minimum: 2, maximum: 2 });
  await pool.connect();
  await own('open', () => pool.ping());
  const key = `programs:${process.pid}`;
  await Promise.all([
    own('request 1', async () => {
      await pool.execute(async (client) => {
        await client.watch(key);
        const value = await client.get(key);
        await client.multi().set(key, `${value}1`, { EX: 5 }).exec();
      });
      own('after 1');
    }),
    own('request 2', async () => {
      await pool.execute(async (client) => {
        await client.scan('0', { MATCH: 'programs:none:*', COUNT: 1 });
      });
      own('after 2');
    }),
  ]);
  await pool.close();
}
