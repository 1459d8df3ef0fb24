// The first key of a batch is loaded outside of any request.
import DataLoader from 'dataloader';
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request
  client postgresql SELECT
`;
export const difference =
  'OpenTelemetry has a span of kind client for each key, and the query below the first, which is of nobody. The request that waits for it is right.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await client.connect();
  const loader = new DataLoader(async (ids) => {
    await client.query('SELECT 1');
    return ids;
  });
  await Promise.all([loader.load(1), own('request', () => loader.load(2))]);
  await client.end();
}
