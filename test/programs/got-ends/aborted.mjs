// A signal gives the call up.
import got from 'got';
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
    setTimeout(() => controller.abort(), 20);
    await got(stock, { signal: controller.signal }).catch(() => {});
    own('after');
  });
}
