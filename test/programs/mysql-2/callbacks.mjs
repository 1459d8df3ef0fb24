// Callbacks of one connection that a third request has opened.
import mysql from 'mysql';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own open
own request 1
  client mysql SELECT
  own after 1
own request 2
  own after 2
`;
export const difference =
  'OpenTelemetry has the callbacks below who opened the connection. The request that called is right.';

export async function run() {
  const connection = own('open', () =>
    mysql.createConnection({ host: '127.0.0.1', user: 'root', database: 'test' }),
  );
  const request = (n, ask) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          ask(() => {
            own(`after ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([
    request(1, (done) => connection.query('SELECT 1', done)),
    request(2, (done) => connection.ping(done)),
  ]);
  connection.destroy();
}
