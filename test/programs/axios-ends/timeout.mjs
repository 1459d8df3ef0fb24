// `timeout` of axios.
import axios from 'axios';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock - !ECONNABORTED
  own after
`;

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    await axios.get(stock, { timeout: 30 }).catch(() => {});
    own('after');
  });
}
