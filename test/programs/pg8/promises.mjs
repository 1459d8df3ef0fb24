// Two requests share one client at once, with promises.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request 1
  client postgresql SELECT
  own after 1
own request 2
  client postgresql SELECT
  own after 2
`;

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', () => client.connect());
  const request = (n) =>
    own(`request ${n}`, async () => {
      await client.query('SELECT $1::int', [n]);
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await client.end();
}
