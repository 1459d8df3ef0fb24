// The program cancels the body, and says why.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
  own after
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(1e6) } });
  await own('call', async () => {
    const { body } = await fetch(stock);
    await body.cancel(new Error('enough'));
    own('after');
  });
}
