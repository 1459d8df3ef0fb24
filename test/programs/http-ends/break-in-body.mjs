// A loop over the body ends early: the program needs no more of it.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(1e6) } });
  await own('call', async () => {
    const [response] = await once(get(stock), 'response');
    for await (const part of response) {
      if (part.length > 0) break;
    }
    own('after');
  });
}
