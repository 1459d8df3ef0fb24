// Notifications come on a connection that some request has opened: they are of none.
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own notified
own request 1
  client postgresql LISTEN
own request 2
  client postgresql NOTIFY
`;
export const difference =
  'OpenTelemetry has notifications below the request that opened the connection, for ever. They are of no request.';

export async function run() {
  const channel = `programs_${process.pid}`;
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const notified = new Promise((resolve) => {
    client.on('notification', () => {
      own('notified');
      resolve();
    });
  });
  await own('request 1', async () => {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
  });
  await own('request 2', () => client.query(`NOTIFY ${channel}`));
  await notified;
  await client.end();
}
