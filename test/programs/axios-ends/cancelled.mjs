// A signal gives the call up: axios destroys the request with an error of its own.
import axios from 'axios';
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
    await axios.get(stock, { signal: controller.signal }).catch(() => {});
    own('after');
  });
}
