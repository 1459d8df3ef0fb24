// A statement that the program prepares and executes itself.
import mysql from 'mysql2';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own open
own request
  client mysql SELECT
  own executed
  own prepared
`;
export const difference =
  'OpenTelemetry has no execution of a statement that the program prepared, and its callbacks below who opened the connection.';

export async function run() {
  const connection = own('open', () =>
    mysql.createConnection({ host: '127.0.0.1', user: 'root', database: 'test' }),
  );
  await own(
    'request',
    () =>
      new Promise((resolve) => {
        connection.prepare('SELECT ?', (_, statement) => {
          own('prepared');
          statement.execute([1], () => {
            own('executed');
            resolve();
          });
        });
      }),
  );
  connection.destroy();
}
