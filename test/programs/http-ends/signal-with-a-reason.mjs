// A signal is aborted with an error of the program: it gives the call up, whatever the reason.
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
    const controller = new AbortController();
    const request = get(stock, { signal: controller.signal });
    request.on('error', () => {});
    await once(request, 'finish');
    controller.abort(new Error('the caller has left'));
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
