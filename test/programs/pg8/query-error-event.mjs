// A Query without a callback emits its error.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
own request
  client postgresql SELECT !42P01
  own error
`;
export const difference =
  'OpenTelemetry has no query without a callback, and its error below who opened the connection.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', () => client.connect());
  await own('request', async () => {
    const query = client.query(new pg.Query('SELECT * FROM no_such_table'));
    await new Promise((resolve) => {
      query.on('error', () => {
        own('error');
        resolve();
      });
    });
  });
  await client.end();
}
