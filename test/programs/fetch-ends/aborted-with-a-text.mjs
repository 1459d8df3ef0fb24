// The program aborts the call with what is no error.
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
    const answer = fetch(stock, { signal: controller.signal });
    setTimeout(() => controller.abort('the caller has left'), 20);
    await answer.catch(() => {});
    own('after');
  });
}
