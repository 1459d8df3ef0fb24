// Rows that come one by one: to a function, in groups to an iterator, and to a stream.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { own } from '../program.mjs';

const postgres = createRequire(import.meta.url)('postgres');

export const needs = ['postgresql'];
export const expected = `
client postgresql SELECT
own request 1
  client postgresql COPY
  client postgresql SELECT
  client postgresql SELECT
  own copied 1
  own group 1
  own group 1
  own row 1
own request 2
  client postgresql COPY
  client postgresql SELECT
  client postgresql SELECT
  own copied 2
  own group 2
  own group 2
  own row 2
`;
export const difference = 'OpenTelemetry does not record this client.';

export async function run() {
  const sql = postgres({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 1 });
  await sql`SELECT 1`.then(() => undefined);
  const request = (n) =>
    own(`request ${n}`, async () => {
      await sql`SELECT 1 AS one`.forEach(() => own(`row ${n}`));
      for await (const rows of sql`SELECT generate_series(1, 4)`.cursor(2)) {
        own(`group ${n}`);
        if (rows.length === 0) break;
      }
      const readable = await sql`COPY (SELECT 1) TO STDOUT`.readable();
      readable.on('data', () => own(`copied ${n}`));
      await once(readable, 'end');
    });
  await request(1);
  await request(2);
  await sql.end();
}
