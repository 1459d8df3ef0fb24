// The peer closes the connection within the body.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200 !aborted
  own after
`;
export const difference =
  'OpenTelemetry reports no error: the answer is not complete, because the peer has closed the connection.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'cut' } });
  await own('call', async () => {
    const request = get(stock);
    request.on('error', () => {});
    const [response] = await once(request, 'response');
    response.on('error', () => {});
    response.resume();
    await new Promise((resolve) => response.once('close', resolve));
    own('after');
  });
}
