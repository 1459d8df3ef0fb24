// A statement that fails, in and out of a transaction, and a server that is not there.
import postgres from 'postgres';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT !42P01
  own failed 1
own request 2
  client postgresql BEGIN
  client postgresql INSERT !42P01
  client postgresql ROLLBACK
  client postgresql SELECT
  own failed 2
own request 3
  own failed 3
`;
export const difference = 'OpenTelemetry does not record this client.';

export async function run() {
  const sql = postgres({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  await own('request 1', () => sql`SELECT * FROM no_such`.catch(() => own('failed 1')));
  await own('request 2', () =>
    sql
      .begin(async (transaction) => {
        await transaction`SELECT 1`;
        await transaction`INSERT INTO no_such VALUES (1)`;
      })
      .catch(() => own('failed 2')),
  );
  const nobody = postgres({ host: '127.0.0.1', port: 9, connect_timeout: 2 });
  await own('request 3', () => nobody`SELECT 1`.catch(() => own('failed 3')));
  await sql.end();
  await nobody.end();
}
