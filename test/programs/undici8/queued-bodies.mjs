// Bodies that undici pulls when the connection is free: each below the request that sends it.
import { Readable } from 'node:stream';
import { Client } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own request 1
  client POST stock 200
  own iterable 1 begins
  own iterable 1 ends
own request 2
  client POST stock 200
  own stream 2 begins
  own stream 2 ends
own request 3
  client POST stock 200
  own iterable 3 begins
  own iterable 3 ends
own request 4
  client POST stock 200
  own stream 4 begins
  own stream 4 ends
`;
export const difference =
  'OpenTelemetry has bodies below the request that opened the connection. Each is of the one that sends it.';
export const nodes = 22;

export async function run() {
  const client = new Client(await otherProcess('stock'));
  async function* chunks(name) {
    own(`${name} begins`);
    yield Buffer.from('a');
    await new Promise((resolve) => setImmediate(resolve));
    own(`${name} ends`);
    yield Buffer.from('b');
  }
  const request = (n) =>
    own(`request ${n}`, async () => {
      const body = n % 2 === 1 ? chunks(`iterable ${n}`) : Readable.from(chunks(`stream ${n}`));
      const answer = await client.request({ path: '/', method: 'POST', body });
      await answer.body.dump();
    });
  await Promise.all([1, 2, 3, 4].map(request));
  await client.close();
}
