// The older way: a cancel token.
import axios from 'axios';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock -
  own after
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const source = axios.CancelToken.source();
    setTimeout(() => source.cancel('the caller has left'), 20);
    await axios.get(stock, { cancelToken: source.token }).catch(() => {});
    own('after');
  });
}
