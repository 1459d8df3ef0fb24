// Transactions of two requests at once. A transaction is one span.
import { createClient } from 'redis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request 1
  client redis MULTI
  own after 1
own request 2
  client redis MULTI
  own after 2
`;
export const difference =
  'OpenTelemetry has each command of the transaction. The server was asked once.';

export async function run() {
  const client = createClient();
  await client.connect();
  const key = `programs:${process.pid}`;
  const request = (n) =>
    own(`request ${n}`, async () => {
      await client.multi().set(key, '1', { EX: 5 }).get(key).exec();
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await client.close();
}
