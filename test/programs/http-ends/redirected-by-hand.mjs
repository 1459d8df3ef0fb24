// A redirect that the program follows: two calls, and none has failed.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  client GET stock 302
`;

export async function run() {
  const stock = await otherProcess('stock', {
    '/': { status: 302, headers: { location: '/there' } },
    '/there': { body: 'here' },
  });
  await own('call', async () => {
    const [first] = await once(get(stock), 'response');
    first.resume();
    await once(first, 'end');
    const [second] = await once(get(new URL(first.headers.location, stock)), 'response');
    second.resume();
    await once(second, 'end');
  });
}
