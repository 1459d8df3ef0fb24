// The peer closes the connection without an answer.
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !ECONNRESET
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'close' } });
  await own('call', async () => {
    const request = get(stock);
    request.on('error', () => {});
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
