// The usual way to end a request in time: the event `timeout`, then `destroy`.
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !timeout
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const request = get(stock, { timeout: 30 });
    request.on('timeout', () => request.destroy());
    request.on('error', () => {});
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
