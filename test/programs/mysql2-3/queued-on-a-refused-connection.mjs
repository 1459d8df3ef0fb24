// github.com/open-telemetry/opentelemetry-js-contrib/issues/2590: a query whose connection is refused has failed.
import mysql from 'mysql2';
import { own } from '../program.mjs';

export const expected = `
own request
  client mysql SELECT !ECONNREFUSED
  own after ECONNREFUSED
`;

export async function run() {
  await own(
    'request',
    () =>
      new Promise((resolve) => {
        const connection = mysql.createConnection({ host: '127.0.0.1', port: 1, user: 'root' });
        connection.query('SELECT 1', ({ code }) => {
          own(`after ${code}`);
          resolve();
        });
      }),
  );
}
