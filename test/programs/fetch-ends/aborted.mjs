// The program aborts the call.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock -
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const controller = new AbortController();
    const answer = fetch(stock, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await answer.catch(() => {});
    own('after');
  });
}
