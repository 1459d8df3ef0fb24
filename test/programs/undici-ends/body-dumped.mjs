// `dump` reads a small body and throws it away.
import { request } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'small' } });
  await own('call', async () => {
    const { body } = await request(stock);
    await body.dump();
    own('after');
  });
}
