// `timeout.request`: got ends the request with an error.
import got from 'got';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !ETIMEDOUT
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    await got(stock, { timeout: { request: 40 }, retry: { limit: 0 } }).catch(() => {});
    own('after');
  });
}
