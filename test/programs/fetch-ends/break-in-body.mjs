// A loop over the body ends early.
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
    for await (const part of body) {
      if (part.length > 0) break;
    }
    own('after');
  });
}
