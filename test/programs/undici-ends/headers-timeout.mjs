// No answer comes within `headersTimeout`.
import { request } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !UND_ERR_HEADERS_TIMEOUT
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    await request(stock, { headersTimeout: 30 }).catch(() => {});
    own('after');
  });
}
