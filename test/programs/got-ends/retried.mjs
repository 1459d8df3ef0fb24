// got tries again after a 503: each attempt is a call.
import got from 'got';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 503 !503
  client GET stock 503 !503
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { status: 503 } });
  await own('call', async () => {
    const retry = { limit: 1, calculateDelay: ({ computedValue }) => Math.min(computedValue, 1) };
    await got(stock, { retry }).catch(() => {});
    own('after');
  });
}
