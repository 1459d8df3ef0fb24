// The peer closes the connection within the body.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200 !UND_ERR_SOCKET
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'cut' } });
  await own('call', async () => {
    const response = await fetch(stock);
    await response.text().catch(() => {});
    own('after');
  });
}
