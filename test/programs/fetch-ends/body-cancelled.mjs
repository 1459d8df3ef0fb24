// The program cancels the body.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(1e6) } });
  await own('call', async () => {
    const { body } = await fetch(stock);
    await body.cancel();
    own('after');
  });
}
