// The older way to give a request up: `abort`.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock -
  own after
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const request = get(stock);
    request.on('error', () => {});
    await once(request, 'finish');
    request.abort();
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
