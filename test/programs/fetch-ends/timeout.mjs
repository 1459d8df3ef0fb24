// AbortSignal.timeout: a timeout is a failure.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !TimeoutError
  client GET stock 200
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    // Of what is aborted before its connection is made, Node reports no reason.
    await (await fetch(new URL('/open', stock))).text();
    await fetch(stock, { signal: AbortSignal.timeout(300) }).catch(() => {});
    own('after');
  });
}
