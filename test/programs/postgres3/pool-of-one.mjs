// A pool of one connection, which the first request opens: the others wait for it.
import postgres from 'postgres';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
  own after 1
own request 2
  client postgresql SELECT
  own after 2
own request 3
  client postgresql SELECT
  own after 3
`;
export const difference = 'OpenTelemetry does not record this client.';

export async function run() {
  const sql = postgres({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 1 });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await sql`SELECT pg_sleep(0.002), ${n}::int`;
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2), request(3)]);
  await sql.end();
}
