// A redirect that fetch follows: two calls.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  client GET stock 302
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', {
    '/': { status: 302, headers: { location: '/there' } },
  });
  await own('call', async () => {
    const response = await fetch(stock);
    await response.text();
    own('after');
  });
}
