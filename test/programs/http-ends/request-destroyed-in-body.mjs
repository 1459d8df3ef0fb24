// The program destroys the request when it has seen the headers.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(1e6) } });
  await own('call', async () => {
    const request = get(stock);
    request.on('error', () => {});
    const [response] = await once(request, 'response');
    response.on('error', () => {});
    request.destroy();
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
