// Commands of several requests in one turn of the loop: the client writes them together.
import { createClient } from 'redis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own open
own request 1
  client redis GET
  own after 1
own request 2
  client redis SET
  own after 2
`;
export const difference = 'OpenTelemetry has the handshake of the connection too.';

export async function run() {
  const client = createClient();
  await own('open', () => client.connect());
  const key = `programs:${process.pid}`;
  const request = (n, command) =>
    own(`request ${n}`, async () => {
      await command();
      own(`after ${n}`);
    });
  await Promise.all([
    client.get(key),
    request(1, () => client.get(key)),
    request(2, () => client.set(key, '1', { EX: 5 })),
  ]);
  await client.close();
}
