// A cursor with callbacks, on a connection that another request has opened.
import pg from 'pg';
import Cursor from 'pg-cursor';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request
  client postgresql SELECT
  own closed
  own rows 2
  own rows 3
`;
export const difference =
  'OpenTelemetry has no query of a cursor, and its callbacks below who opened the connection.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', () => client.connect());
  await own(
    'request',
    () =>
      new Promise((resolve) => {
        const cursor = client.query(new Cursor('SELECT generate_series(1, 9)'));
        cursor.read(2, (_, rows) => {
          own(`rows ${rows.length}`);
          cursor.read(3, (_error, more) => {
            own(`rows ${more.length}`);
            cursor.close(() => {
              own('closed');
              resolve();
            });
          });
        });
      }),
  );
  await client.end();
}
