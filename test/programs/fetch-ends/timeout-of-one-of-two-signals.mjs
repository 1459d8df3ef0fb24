// AbortSignal.any: the one of the two that has a timeout comes first.
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
    await (await fetch(new URL('/open', stock))).text();
    const { signal } = new AbortController();
    const both = AbortSignal.any([signal, AbortSignal.timeout(300)]);
    await fetch(stock, { signal: both }).catch(() => {});
    own('after');
  });
}
