// A call that is tried again: the first attempt has failed.
import { once } from 'node:events';
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  client GET stock 503 !503
`;

export async function run() {
  const stock = await otherProcess('stock', { '/busy': { status: 503 } });
  await own('call', async () => {
    for (const path of ['/busy', '/free']) {
      const [response] = await once(get(new URL(path, stock)), 'response');
      response.resume();
      await once(response, 'end');
    }
  });
}
