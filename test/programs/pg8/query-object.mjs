// A Query that the program makes itself, with a callback.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request
  client postgresql SELECT
  own after
`;

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', () => client.connect());
  await own(
    'request',
    () =>
      new Promise((resolve) => {
        const query = new pg.Query('SELECT 1', () => {
          own('after');
          resolve();
        });
        client.query(query);
      }),
  );
  await client.end();
}
