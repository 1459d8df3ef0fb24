// `setTimeout` of a request that was sent already, then `destroy`.
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
    const request = get(stock);
    request.setTimeout(30, () => request.destroy());
    request.on('error', () => {});
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
