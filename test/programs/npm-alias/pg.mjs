// pg, installed under another name.
import pg from 'postgres-eight';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const alone = 'OpenTelemetry finds a module by its name: it has no query of this one.';
export const expected = `
own request
  client postgresql SELECT
`;

export async function run() {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await client.connect();
  await own('request', () => client.query('SELECT 1'));
  await client.end();
}
