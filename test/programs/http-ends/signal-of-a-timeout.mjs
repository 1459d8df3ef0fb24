// AbortSignal.timeout ends the request: a timeout is a failure.
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !TimeoutError
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const request = get(stock, { signal: AbortSignal.timeout(30) });
    request.on('error', () => {});
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
