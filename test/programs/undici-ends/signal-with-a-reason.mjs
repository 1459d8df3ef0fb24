// A signal is aborted with an error of the program.
import { request } from 'undici';
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
    setTimeout(() => controller.abort(new Error('the caller has left')), 20);
    await request(stock, { signal: controller.signal }).catch(() => {});
    own('after');
  });
}
