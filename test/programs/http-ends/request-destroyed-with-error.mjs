// The program destroys a request with an error of its own.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !E_STOCK
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const request = get(stock);
    request.on('error', () => {});
    await once(request, 'finish');
    request.destroy(Object.assign(new Error('too late'), { code: 'E_STOCK' }));
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
