// A loader for each request, as with GraphQL: all keys are of one caller, so there is no link.
import DataLoader from 'dataloader';
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
own request 2
  client postgresql SELECT
`;
export const difference = 'OpenTelemetry has a span of kind client for each key. No key is a call.';

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  const request = (n) =>
    own(`request ${n}`, async () => {
      const loader = new DataLoader(async (ids) => {
        await pool.query('SELECT 1');
        return ids;
      });
      await Promise.all([loader.load(1), loader.load(2), loader.load(3)]);
    });
  await Promise.all([request(1), request(2)]);
  await pool.end();
}
