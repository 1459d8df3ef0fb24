// A cursor that one request opens and others read from.
import pg from 'pg';
import Cursor from 'pg-cursor';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
  client postgresql SELECT
own page 1
  own rows 1
own page 2
  own rows 2
`;
export const difference =
  'OpenTelemetry has no query of a cursor, and its callbacks below who opened the connection.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const cursor = await own('open', async () => {
    await client.connect();
    return client.query(new Cursor('SELECT generate_series(1, 9)'));
  });
  const page = (n) =>
    own(
      `page ${n}`,
      () =>
        new Promise((resolve) => {
          cursor.read(2, () => {
            own(`rows ${n}`);
            resolve();
          });
        }),
    );
  await page(1);
  await page(2);
  await cursor.close();
  await client.end();
}
