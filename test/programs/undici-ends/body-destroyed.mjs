// The program destroys the body.
import { request } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(1e6) } });
  await own('call', async () => {
    const { body } = await request(stock);
    body.on('error', () => {});
    body.destroy();
    await new Promise((resolve) => body.once('close', resolve));
    own('after');
  });
}
