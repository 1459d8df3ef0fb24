// COPY into and out of a table, by streams.
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
  client postgresql CREATE
own read
  client postgresql COPY
  own data
own write
  client postgresql COPY
`;
export const difference = 'OpenTelemetry has no COPY: such a query has no callback.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('open', async () => {
    await client.connect();
    await client.query('CREATE TEMPORARY TABLE copied (id int)');
  });
  await own('write', () => pipeline(['1\n2\n'], client.query(from('COPY copied FROM STDIN'))));
  await own('read', async () => {
    const stream = client.query(to('COPY copied TO STDOUT'));
    await new Promise((resolve, reject) => {
      stream.once('data', () => own('data'));
      stream.on('error', reject);
      stream.on('end', resolve);
    });
  });
  await client.end();
}
