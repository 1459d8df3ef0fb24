// The peer closes the connection without an answer.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !UND_ERR_SOCKET
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'close' } });
  await own('call', async () => {
    await fetch(stock).catch(() => {});
    own('after');
  });
}
