// Nobody reads the body, and V8 collects the response.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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
    await (async () => {
      await fetch(stock);
    })();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      collect();
    }
    own('after');
  });
}
