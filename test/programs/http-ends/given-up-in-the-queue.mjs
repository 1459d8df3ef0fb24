// An agent has no connection for a second request, which the program gives up before it gets one.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own call
  client GET stock -
  client GET stock -
  own after
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { fate: 'never' } });
  await own('call', async () => {
    const agent = new Agent({ maxSockets: 1 });
    const requests = [get(stock, { agent }), get(stock, { agent })];
    for (const request of requests) request.on('error', () => {});
    await once(requests[0], 'finish');
    const closed = Promise.all(
      requests.map((each) => new Promise((resolve) => each.once('close', resolve))),
    );
    requests[1].destroy();
    requests[0].destroy();
    await closed;
    own('after');
  });
}
