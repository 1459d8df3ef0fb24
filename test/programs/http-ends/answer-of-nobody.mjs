// github.com/open-telemetry/opentelemetry-js/issues/397: nobody listens for the answer, which Node reads to its end.
import { once } from 'node:events';
import { request } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(100_000) } });
  await own('call', async () => {
    const sent = request(stock);
    sent.end();
    await once(sent, 'close');
    own('after');
  });
}
