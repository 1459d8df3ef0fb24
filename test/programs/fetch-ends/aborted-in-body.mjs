// The program aborts the call when it has seen the headers.
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
    const controller = new AbortController();
    const response = await fetch(stock, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await response.text().catch(() => {});
    own('after');
  });
}
