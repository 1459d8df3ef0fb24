// One query for the keys of two requests: it has a link to both.
import DataLoader from 'dataloader';
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT links:2
  own after 1
own request 2
  own after 2
`;
export const difference =
  'OpenTelemetry has a span of kind client for each key, and no link at the query.';

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await client.connect();
  const loader = new DataLoader(async (ids) => {
    await client.query('SELECT 1');
    return ids;
  });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await loader.load(n);
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await client.end();
}
