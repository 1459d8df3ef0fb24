// Rows as a stream, read by listeners and by `for await`.
import { once } from 'node:events';
import mysql from 'mysql2';
import { own } from '../program.mjs';

export const needs = ['mysql'];
export const expected = `
own open
own request 1
  client mysql SELECT
  own end
  own row
  own row
own request 2
  client mysql SELECT
  own iterated
  own iterated
`;
export const difference =
  'OpenTelemetry has the rows below who opened the connection. The request that called is right.';

export async function run() {
  const connection = own('open', () =>
    mysql.createConnection({ host: '127.0.0.1', user: 'root', database: 'test' }),
  );
  const sql = 'SELECT 1 UNION ALL SELECT 2';
  const listening = own('request 1', () => {
    const stream = connection.query(sql).stream();
    stream.on('data', () => own('row'));
    stream.on('end', () => own('end'));
    return once(stream, 'close');
  });
  const iterating = own('request 2', async () => {
    for await (const _ of connection.query(sql).stream()) own('iterated');
  });
  await Promise.all([listening, iterating]);
  connection.destroy();
}
