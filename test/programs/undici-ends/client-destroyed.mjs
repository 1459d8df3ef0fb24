// The program destroys its client with what that has under way.
import { Client } from 'undici';
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
    const client = new Client(stock);
    const answer = client.request({ path: '/', method: 'GET' });
    setTimeout(() => client.destroy(), 20);
    await answer.catch(() => {});
    own('after');
  });
}
